package lectus.store.embedded;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/**
 * Walks a range chunk by chunk. The first chunk is fetched immediately. Each later one is fetched
 * when the first row of the previous chunk is taken, as fdb-java does: its conflict range counts
 * even if none of its rows is used. One thread may use it at a time; any thread may cancel it.
 */
final class RangeIterator implements AsyncIterator<KeyValue> {
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
