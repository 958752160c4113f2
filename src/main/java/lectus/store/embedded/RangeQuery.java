package lectus.store.embedded;

import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.List;
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
}
