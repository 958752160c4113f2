package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import lectus.document.DocumentsSubspace;
import lectus.json.LeafList;
import lectus.json.StringParts;
import lectus.mango.selector.LeafRead.Extent;
import lectus.store.Awaiting;

/**
 * Reads parts of documents, each only as far as a selector looks, and counts the bytes read.
 * Several threads may use it, each for parts of its own.
 */
final class PartReads {
  private final ReadTransaction tx;
  private final LongAdder taken = new LongAdder();
  private final LongAdder arrived = new LongAdder();

  PartReads(ReadTransaction tx) {
    this.tx = tx;
  }

  /** A part that is being read. Only the beginning of a long one is read ahead. */
  interface Part {
    /**
     * @param pathOffset offset in the keys at which the paths begin
     */
    void addTo(LeafList leaves, int pathOffset);

    /** Begins to read what the first read has shown to be there. */
    default void goOn() {}
  }

  /** Begins to read this much of what lies at and below a key. */
  Part start(byte[] key, Extent extent) {
    return switch (extent) {
      case LEAF -> leaf(key);
      case TYPE -> first(key, false);
      case FIRST -> first(key, true);
      case ALL -> all(key);
    };
  }

  /**
   * Begins to read a value that is probably no container, so that one key has it: looking at a key
   * costs less than looking through a range. Only {@link Part#goOn} looks further.
   */
  Part startScalar(byte[] key) {
    return new LikelyScalar(key);
  }

  private final class LikelyScalar implements Part {
    private final byte[] key;
    private final CompletableFuture<byte[]> reading;
    private Optional<Part> below = Optional.empty();

    LikelyScalar(byte[] key) {
      this.key = key;
      this.reading = get(key);
    }

    @Override
    public void goOn() {
      if (Awaiting.await(reading) == null) {
        below = Optional.of(all(key));
      }
    }

    @Override
    public void addTo(LeafList leaves, int pathOffset) {
      below.ifPresentOrElse(
          it -> it.addTo(leaves, pathOffset),
          () -> addLeaf(leaves, pathOffset, key, Awaiting.await(reading)));
    }
  }

  private Part leaf(byte[] key) {
    CompletableFuture<byte[]> reading = get(key);
    return (leaves, pathOffset) -> addLeaf(leaves, pathOffset, key, Awaiting.await(reading));
  }

  /** Begins to read one row. */
  CompletableFuture<byte[]> get(byte[] key) {
    CompletableFuture<byte[]> reading = tx.get(key);
    reading.thenAccept(value -> arrived.add(key.length + (value == null ? 0 : value.length)));
    return reading;
  }

  private void addLeaf(LeafList leaves, int pathOffset, byte[] key, byte[] value) {
    if (value != null) {
      take(leaves, pathOffset, key, value);
      addPieces(leaves, pathOffset, key, value);
    }
  }

  private Part first(byte[] key, boolean whole) {
    CompletableFuture<List<KeyValue>> reading =
        tx.getRange(key, DocumentsSubspace.endOf(key), 1, false, StreamingMode.EXACT).asList();
    return (leaves, pathOffset) -> {
      for (KeyValue row : Awaiting.await(reading)) {
        add(leaves, pathOffset, row.getKey(), row.getValue());
        if (whole && row.getKey().length == key.length) {
          addPieces(leaves, pathOffset, key, row.getValue());
        }
      }
    };
  }

  private Part all(byte[] key) {
    AsyncIterator<KeyValue> reading = rows(key, DocumentsSubspace.endOf(key));
    return (leaves, pathOffset) -> addAll(leaves, pathOffset, reading);
  }

  /** Adds the further pieces of a long leaf. */
  private void addPieces(LeafList leaves, int pathOffset, byte[] key, byte[] first) {
    if (StringParts.areBegunBy(first)) {
      addAll(leaves, pathOffset, rows(StringParts.begin(key), StringParts.end(key)));
    }
  }

  private AsyncIterator<KeyValue> rows(byte[] begin, byte[] end) {
    return tx.getRange(
            begin, end, ReadTransaction.ROW_LIMIT_UNLIMITED, false, StreamingMode.WANT_ALL)
        .iterator();
  }

  private void addAll(LeafList leaves, int pathOffset, AsyncIterator<KeyValue> rows) {
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      add(leaves, pathOffset, row.getKey(), row.getValue());
    }
  }

  private void add(LeafList leaves, int pathOffset, byte[] key, byte[] value) {
    arrived.add(key.length + value.length);
    take(leaves, pathOffset, key, value);
  }

  private void take(LeafList leaves, int pathOffset, byte[] key, byte[] value) {
    taken.add(key.length + value.length);
    if (key.length > pathOffset) {
      leaves.add(key, value);
    }
  }

  /** Counts what was read elsewhere. */
  void taken(int bytes) {
    taken.add(bytes);
    arrived.add(bytes);
  }

  /** Counts a row that was looked at. */
  void take(byte[] key, byte[] value) {
    taken.add(key.length + value.length);
  }

  /** Returns the bytes of keys and values of the parts that were added so far. */
  long bytes() {
    return taken.sum();
  }

  /** Returns the same together with single keys that the store has answered, but nobody added. */
  long bytesArrived() {
    return arrived.sum();
  }
}
