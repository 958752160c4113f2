package lectus.document;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.json.ChosenPaths;
import lectus.json.JsonAssembler;
import lectus.json.JsonExploder;
import lectus.json.Leaf;

/**
 * The key-values of one revision, consumed once, while they are read. Until then only the beginning
 * of a long body is in memory, so many bodies may be read ahead.
 */
public final class StoredBody {
  private final Iterator<KeyValue> rows;
  private final int pathOffset;
  private final ChosenPaths chosen;
  private AttachmentList attachments = AttachmentList.NONE;

  private StoredBody(Iterator<KeyValue> rows, int pathOffset, ChosenPaths chosen) {
    this.rows = rows;
    this.pathOffset = pathOffset;
    this.chosen = chosen;
  }

  /**
   * Wraps key-values that have already been read.
   *
   * @param pathOffset offset in the keys at which the paths begin
   * @param descending whether the last leaf comes first
   */
  public static StoredBody of(List<KeyValue> rows, int pathOffset, boolean descending) {
    return new StoredBody(
        descending ? backwards(rows) : rows.iterator(), pathOffset, ChosenPaths.ALL);
  }

  /**
   * Begins to read, in one range read, all keys that are {@code prefix} or lie below it.
   *
   * @return completes when the first of them have arrived
   */
  public static CompletableFuture<StoredBody> read(ReadTransaction tx, byte[] prefix) {
    AsyncIterator<KeyValue> rows = below(tx, prefix);
    return rows.onHasNext().thenApply(any -> new StoredBody(rows, prefix.length, ChosenPaths.ALL));
  }

  /** Reads a body that lies in one row; empty if it does not. */
  public static CompletableFuture<Optional<StoredBody>> oneRow(ReadTransaction tx, byte[] prefix) {
    return tx.get(prefix)
        .thenApply(
            value ->
                value != null && RevisionMetadata.of(value).isInline()
                    ? Optional.of(of(List.of(new KeyValue(prefix, value)), prefix.length, false))
                    : Optional.empty());
  }

  /**
   * Begins to read some leaves: the body's first row, and the ranges of the leaves' rows beside it.
   * If the first row is there at once and no leaf has a row, the ranges are not asked for.
   */
  public static CompletableFuture<StoredBody> read(
      ReadTransaction tx, byte[] prefix, ChosenPaths chosen) {
    CompletableFuture<byte[]> first = tx.get(prefix);
    List<CompletableFuture<Iterator<KeyValue>>> started = new ArrayList<>(chosen.paths().size());
    if (!hasNoLeafRows(first)) {
      chosen.paths().forEach(path -> started.add(begun(tx, ByteArrayUtil.join(prefix, path))));
    }
    return first.thenCompose(
        value -> {
          if (value != null && !chosen.paths().isEmpty() && RevisionMetadata.of(value).isText()) {
            started.add(begun(tx, TextChunks.prefix(prefix)));
          }
          return CompletableFuture.allOf(started.toArray(CompletableFuture[]::new))
              .thenApply(all -> of(prefix, value, begun(started), chosen));
        });
  }

  private static CompletableFuture<Iterator<KeyValue>> begun(ReadTransaction tx, byte[] prefix) {
    AsyncIterator<KeyValue> rows = below(tx, prefix);
    return rows.onHasNext().thenApply(any -> rows);
  }

  /** Returns what has completed. */
  private static List<Iterator<KeyValue>> begun(
      List<CompletableFuture<Iterator<KeyValue>>> started) {
    return started.stream().map(it -> it.getNow(List.<KeyValue>of().iterator())).toList();
  }

  /** Whether a body's first row is being read and has arrived, and no leaf has a row. */
  public static boolean hasNoLeafRows(CompletableFuture<byte[]> first) {
    byte[] value = first.isCompletedExceptionally() ? null : first.getNow(null);
    if (value == null) {
      return false;
    }
    return !RevisionMetadata.of(value).hasLeafRows();
  }

  private static StoredBody of(
      byte[] prefix, byte[] first, List<Iterator<KeyValue>> leaves, ChosenPaths chosen) {
    List<Iterator<KeyValue>> parts = new ArrayList<>(1 + leaves.size());
    if (first != null) {
      parts.add(List.of(new KeyValue(prefix, first)).iterator());
    }
    parts.addAll(leaves);
    return new StoredBody(joined(parts), prefix.length, chosen);
  }

  private static AsyncIterator<KeyValue> below(ReadTransaction tx, byte[] prefix) {
    return tx.getRange(
            prefix,
            DocumentsSubspace.endOf(prefix),
            ReadTransaction.ROW_LIMIT_UNLIMITED,
            false,
            StreamingMode.WANT_ALL)
        .iterator();
  }

  /** Whether the revision has anything in the documents subspace, if only its metadata. */
  public boolean isStored() {
    return rows.hasNext();
  }

  /** Consumes the key-values. Throws if the read failed. */
  public void appendTo(JsonAssembler members) {
    BodyReading reading = new BodyReading(members, chosen);
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      reading.take(row.getKey(), pathOffset, row.getValue());
      if (reading.choosesFromText()) {
        reading.choose(rows, pathOffset);
      }
    }
    reading.finish();
    attachments = reading.attachments();
  }

  /** Consumes the key-values of a body in chunks, and returns some of its leaves. */
  public List<Leaf> leaves(JsonExploder.Choice choice) {
    int textBytes = RevisionMetadata.of(rows.next().getValue()).textBytes();
    return TextChunks.leaves(textBytes, rows, pathOffset, choice);
  }

  /** Returns the attachments, once the key-values are consumed. */
  public AttachmentList attachments() {
    return attachments;
  }

  private static Iterator<KeyValue> backwards(List<KeyValue> rows) {
    return new Iterator<>() {
      private int next = rows.size();

      @Override
      public boolean hasNext() {
        return next > 0;
      }

      @Override
      public KeyValue next() {
        return rows.get(--next);
      }
    };
  }

  private static Iterator<KeyValue> joined(List<Iterator<KeyValue>> parts) {
    return new Iterator<>() {
      private int part;

      @Override
      public boolean hasNext() {
        while (part < parts.size() && !parts.get(part).hasNext()) {
          part++;
        }
        return part < parts.size();
      }

      @Override
      public KeyValue next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return parts.get(part).next();
      }
    };
  }
}
