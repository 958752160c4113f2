package lectus.store.embedded;

import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/**
 * A range to be read in chunks, so that no range has to fit in memory.
 *
 * @param limit maximum number of rows; 0 for no limit
 */
record RangeQuery(
    EmbeddedTransaction transaction,
    Position begin,
    Position end,
    int limit,
    boolean reverse,
    StreamingMode mode,
    boolean snapshot)
    implements AsyncIterable<KeyValue> {

  /** The largest size that a reply of a cluster's storage server aims at. */
  private static final int WIRE_BYTES = 80_000;

  private static final int SMALL_BYTES = 256;
  private static final int MEDIUM_BYTES = 1_000;
  private static final int LARGE_BYTES = 4_096;

  /**
   * The sizes that mode ITERATOR aims at in its first fetches, each half as much again as the
   * previous.
   */
  private static final int[] ITERATOR_BYTES = {
    4_096, 6_144, 9_216, 13_824, 20_736, 31_104, 46_656, 69_984, WIRE_BYTES
  };

  static RangeQuery of(
      EmbeddedTransaction transaction,
      KeySelector begin,
      KeySelector end,
      int limit,
      boolean reverse,
      StreamingMode mode,
      boolean snapshot) {
    return new RangeQuery(
        transaction, Position.of(begin), Position.of(end), limit, reverse, mode, snapshot);
  }

  @Override
  public AsyncIterator<KeyValue> iterator() {
    return new RangeIterator(this);
  }

  @Override
  public CompletableFuture<List<KeyValue>> asList() {
    if (mode == StreamingMode.ITERATOR) {
      return with(limit == 0 ? StreamingMode.WANT_ALL : StreamingMode.EXACT).asList();
    }
    if (mode == StreamingMode.EXACT) {
      return fetch(begin, end, limit, 1).thenApply(RangeChunk::rows);
    }
    return collect(new ArrayList<>(), begin, end, limit, 1);
  }

  private RangeQuery with(StreamingMode other) {
    return new RangeQuery(transaction, begin, end, limit, reverse, other, snapshot);
  }

  private CompletableFuture<List<KeyValue>> collect(
      List<KeyValue> rows, Position from, Position to, int left, int iteration) {
    RangeCursor cursor = new RangeCursor(this, from, to, left);
    int fetches = iteration;
    while (true) {
      CompletableFuture<RangeChunk> fetch =
          fetch(cursor.from(), cursor.to(), cursor.left(), fetches);
      if (!fetch.isDone() || fetch.isCompletedExceptionally()) {
        int next = fetches + 1;
        return fetch.thenCompose(
            chunk ->
                take(chunk, rows, cursor)
                    ? collect(rows, cursor.from(), cursor.to(), cursor.left(), next)
                    : CompletableFuture.completedFuture(rows));
      }
      if (!take(fetch.join(), rows, cursor)) {
        return CompletableFuture.completedFuture(rows);
      }
      fetches++;
    }
  }

  private static boolean take(RangeChunk chunk, List<KeyValue> rows, RangeCursor cursor) {
    rows.addAll(chunk.rows());
    return cursor.advance(chunk);
  }

  /**
   * Fetches a chunk.
   *
   * @param left maximum number of rows; 0 for no limit
   * @param iteration the number of this fetch, from 1
   */
  CompletableFuture<RangeChunk> fetch(Position from, Position to, int left, int iteration) {
    int rows = left == 0 ? RangeRequest.UNLIMITED : left;
    return transaction
        .reads()
        .getRange(new RangeRequest(from, to, rows, targetBytes(iteration), reverse, snapshot));
  }

  private int targetBytes(int iteration) {
    return switch (mode) {
      case EXACT -> Integer.MAX_VALUE;
      case SMALL -> SMALL_BYTES;
      case MEDIUM -> MEDIUM_BYTES;
      case LARGE -> LARGE_BYTES;
      case ITERATOR -> ITERATOR_BYTES[Math.min(iteration, ITERATOR_BYTES.length) - 1];
      case SERIAL, WANT_ALL -> WIRE_BYTES;
    };
  }

  /**
   * Walks a range chunk by chunk. The first chunk is fetched immediately. Each later one is fetched
   * when the first row of the previous chunk is taken, as fdb-java does: its conflict range counts
   * even if none of its rows is used. One thread may use it at a time; any thread may cancel it.
   */
  private static final class RangeIterator implements AsyncIterator<KeyValue> {
    private final RangeQuery query;
    private final RangeCursor cursor;
    private int fetches;
    private volatile CompletableFuture<RangeChunk> fetch;
    private List<KeyValue> rows = List.of();
    private int taken;
    private boolean isLastChunk;
    private byte[] lastKey;
    private volatile boolean cancelled;

    RangeIterator(RangeQuery query) {
      this.query = query;
      cursor = new RangeCursor(query, query.begin(), query.end(), query.limit());
      startFetch();
    }

    private void startFetch() {
      fetches++;
      fetch = query.fetch(cursor.from(), cursor.to(), cursor.left(), fetches);
    }

    @Override
    public CompletableFuture<Boolean> onHasNext() {
      checkNotCancelled();
      if (taken < rows.size()) {
        return CompletableFuture.completedFuture(true);
      }
      if (isLastChunk) {
        return CompletableFuture.completedFuture(false);
      }
      return fetch.thenApply(chunk -> !chunk.rows().isEmpty());
    }

    @Override
    public boolean hasNext() {
      checkNotCancelled();
      if (taken < rows.size()) {
        return true;
      }
      return !isLastChunk && !fetch.join().rows().isEmpty();
    }

    @Override
    public KeyValue next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (taken == rows.size()) {
        take(fetch.join());
      }
      KeyValue row = rows.get(taken++);
      lastKey = row.getKey();
      return row;
    }

    private void take(RangeChunk chunk) {
      rows = chunk.rows();
      taken = 0;
      isLastChunk = !cursor.advance(chunk);
      if (!isLastChunk) {
        startFetch();
      }
    }

    /** Clears the key of the row taken last. */
    @Override
    public void remove() {
      if (lastKey == null) {
        throw new IllegalStateException("No row has been taken yet");
      }
      query.transaction().clear(lastKey);
    }

    @Override
    public void cancel() {
      cancelled = true;
      fetch.cancel(true);
    }

    private void checkNotCancelled() {
      if (cancelled) {
        throw new CancellationException();
      }
    }
  }

  /** The rest of a range after the chunks fetched so far. */
  static final class RangeCursor {
    private final boolean reverse;
    private final boolean limited;
    private Position from;
    private Position to;
    private int left;

    RangeCursor(RangeQuery query, Position from, Position to, int left) {
      reverse = query.reverse();
      limited = query.limit() != 0;
      this.from = from;
      this.to = to;
      this.left = left;
    }

    Position from() {
      return from;
    }

    Position to() {
      return to;
    }

    /** Returns the maximum number of rows left; 0 means no limit. */
    int left() {
      return left;
    }

    /** Advances past a chunk. Returns false if it was the last. */
    boolean advance(RangeChunk chunk) {
      if (!chunk.more()) {
        return false;
      }
      byte[] last = chunk.lastKey();
      if (reverse) {
        to = Position.at(last);
      } else {
        from = Position.behind(last);
      }
      if (limited) {
        left -= chunk.rows().size();
      }
      return !(limited && left < 1);
    }
  }
}
