package lectus.store.embedded;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyArrayResult;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.TransactionOptions;
import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import lectus.error.FoundationDbError;
import lectus.store.embedded.RangeRead.RangeOverloads;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;

/**
 * One attempt of a transaction on the embedded store. {@link #onError} ends it and returns another
 * object for the next attempt. Errors are FoundationDB's, see docs/foundationdb-contract.md.
 */
final class EmbeddedTransaction implements Transaction, RangeOverloads {
  private final Attempt attempt;
  private final AttemptReads reads;
  private final AttemptWrites writes;
  private final Commit commit;
  private SnapshotView snapshotView;
  private TransactionOptions options;
  private volatile boolean closed;

  EmbeddedTransaction(Attempt attempt) {
    this(attempt, Commit.NOT_COMMITTED);
  }

  /**
   * @param committedVersion the previous attempt's; FoundationDB keeps returning it
   */
  private EmbeddedTransaction(Attempt attempt, long committedVersion) {
    this.attempt = attempt;
    reads = new AttemptReads(attempt);
    writes = new AttemptWrites(attempt);
    commit = new Commit(attempt, committedVersion);
  }

  /**
   * @throws IllegalStateException after close or onError
   */
  AttemptReads reads() {
    checkOpen();
    return reads;
  }

  private void checkOpen() {
    if (closed) {
      throw closed();
    }
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("The transaction is closed");
  }

  /**
   * @param hasArguments whether none of the arguments is null
   */
  private void check(boolean hasArguments) {
    if (closed) {
      throw closed();
    }
    if (!hasArguments) {
      throw new IllegalArgumentException("Keys and values must not be null");
    }
  }

  // ---- reads -------------------------------------------------------------------------------

  @Override
  public boolean isSnapshot() {
    return false;
  }

  @Override
  public ReadTransaction snapshot() {
    if (snapshotView == null) {
      snapshotView = new SnapshotView(this);
    }
    return snapshotView;
  }

  @Override
  public CompletableFuture<Long> getReadVersion() {
    return reads().getReadVersion();
  }

  @Override
  public void setReadVersion(long version) {
    checkOpen();
    writes.setReadVersion(version);
  }

  @Override
  public CompletableFuture<byte[]> get(byte[] key) {
    return get(key, false);
  }

  CompletableFuture<byte[]> get(byte[] key, boolean snapshot) {
    check(key != null);
    return reads.get(key, snapshot);
  }

  @Override
  public CompletableFuture<byte[]> getKey(KeySelector selector) {
    return getKey(selector, false);
  }

  CompletableFuture<byte[]> getKey(KeySelector selector, boolean snapshot) {
    check(selector != null);
    return reads.getKey(selector, snapshot);
  }

  AsyncIterable<KeyValue> range(
      KeySelector begin,
      KeySelector end,
      int limit,
      boolean reverse,
      StreamingMode mode,
      boolean snapshot) {
    return RangeRead.of(this, begin, end, limit, reverse, mode, snapshot);
  }

  @Override
  public AsyncIterable<KeyValue> getRange(
      KeySelector begin, KeySelector end, int limit, boolean reverse, StreamingMode mode) {
    return range(begin, end, limit, reverse, mode, false);
  }

  @Override
  public CompletableFuture<Long> getEstimatedRangeSizeBytes(byte[] begin, byte[] end) {
    check(begin != null && end != null);
    return new RangeEstimates(attempt, reads).sizeBytes(begin, end);
  }

  @Override
  public CompletableFuture<KeyArrayResult> getRangeSplitPoints(
      byte[] begin, byte[] end, long chunkSize) {
    check(begin != null && end != null);
    return new RangeEstimates(attempt, reads).splitPoints(begin, end, chunkSize);
  }

  // ---- conflict ranges and writes ----------------------------------------------------------

  @Override
  public boolean addReadConflictRangeIfNotSnapshot(byte[] begin, byte[] end) {
    addReadConflictRange(begin, end);
    return true;
  }

  @Override
  public boolean addReadConflictKeyIfNotSnapshot(byte[] key) {
    addReadConflictKey(key);
    return true;
  }

  @Override
  public void addReadConflictRange(byte[] begin, byte[] end) {
    check(begin != null && end != null);
    writes.addReadConflict(begin, end);
  }

  @Override
  public void addReadConflictKey(byte[] key) {
    check(key != null);
    addReadConflictRange(key, KeySpace.after(key));
  }

  @Override
  public void addWriteConflictRange(byte[] begin, byte[] end) {
    check(begin != null && end != null);
    writes.addWriteConflict(begin, end);
  }

  @Override
  public void addWriteConflictKey(byte[] key) {
    check(key != null);
    addWriteConflictRange(key, KeySpace.after(key));
  }

  @Override
  public void set(byte[] key, byte[] value) {
    check(key != null && value != null);
    writes.set(key, value);
  }

  @Override
  public void clear(byte[] key) {
    check(key != null);
    writes.clear(key);
  }

  @Override
  public void clear(byte[] begin, byte[] end) {
    check(begin != null && end != null);
    writes.clear(begin, end);
  }

  @Override
  public void clear(Range range) {
    clear(range.begin, range.end);
  }

  @Override
  @Deprecated
  public void clearRangeStartsWith(byte[] prefix) {
    check(prefix != null);
    clear(prefix, ByteArrayUtil.strinc(prefix));
  }

  @Override
  public void mutate(MutationType type, byte[] key, byte[] operand) {
    check(type != null && key != null && operand != null);
    writes.mutate(type, key, operand);
  }

  @Override
  public TransactionOptions options() {
    if (options == null) {
      options =
          new TransactionOptions(
              (code, value) -> {
                checkOpen();
                AttemptOptions.set(attempt, code, value);
              });
    }
    return options;
  }

  // ---- commit and after --------------------------------------------------------------------

  @Override
  public CompletableFuture<Void> commit() {
    checkOpen();
    return commit.commit();
  }

  @Override
  public Long getCommittedVersion() {
    checkOpen();
    return commit.committedVersion();
  }

  @Override
  public CompletableFuture<byte[]> getVersionstamp() {
    checkOpen();
    return commit.getVersionstamp();
  }

  @Override
  public CompletableFuture<Long> getApproximateSize() {
    return reads().getApproximateSize();
  }

  @Override
  public CompletableFuture<Void> watch(byte[] key) {
    check(key != null);
    return reads.watch(key);
  }

  @Override
  public CompletableFuture<Transaction> onError(Throwable error) {
    Throwable cause = unwrapped(error);
    if (!(cause instanceof FDBException failure)) {
      return CompletableFuture.failedFuture(cause);
    }
    checkOpen();
    long delayNanos;
    synchronized (attempt) {
      closed = true;
      try {
        attempt.checkStopped();
      } catch (FDBException stopped) {
        return giveUp(stopped);
      }
      delayNanos = attempt.policy.delayNanos(failure.getCode(), attempt.database.runtime.random());
    }
    if (delayNanos < 0) {
      boolean isSuccess = failure.isSuccess();
      return giveUp(isSuccess ? FoundationDbError.CLIENT_INVALID_OPERATION.exception() : failure);
    }
    return retryAfter(delayNanos);
  }

  private static Throwable unwrapped(Throwable error) {
    boolean wraps = error instanceof CompletionException || error instanceof ExecutionException;
    return wraps && error.getCause() != null ? error.getCause() : error;
  }

  private CompletableFuture<Transaction> giveUp(FDBException error) {
    attempt.close();
    return CompletableFuture.failedFuture(error);
  }

  private CompletableFuture<Transaction> retryAfter(long delayNanos) {
    commit.abandon();
    attempt.close();
    boolean timesOut = attempt.policy.hasTimeout();
    long left = timesOut ? attempt.policy.nanosLeft(attempt.database.nanoTime.getAsLong()) : 0;
    if (timesOut && left <= delayNanos) {
      return attempt.database.after(
          Math.max(0, left),
          attempt.executor,
          () -> {
            throw FoundationDbError.TRANSACTION_TIMED_OUT.exception();
          });
    }
    return attempt.database.after(delayNanos, attempt.executor, this::next);
  }

  private Transaction next() {
    Attempt next = attempt.database.attempt(attempt.executor, attempt.events, attempt.policy);
    return new EmbeddedTransaction(next, commit.committedVersion());
  }

  @Override
  public void cancel() {
    checkOpen();
    attempt.stop(FoundationDbError.TRANSACTION_CANCELLED);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      attempt.close();
    }
  }

  // ---- context -----------------------------------------------------------------------------

  @Override
  public Database getDatabase() {
    return attempt.database;
  }

  @Override
  public Executor getExecutor() {
    return attempt.executor;
  }

  @Override
  public <T> T run(Function<? super Transaction, T> body) {
    return body.apply(this);
  }

  @Override
  public <T> CompletableFuture<T> runAsync(
      Function<? super Transaction, ? extends CompletableFuture<T>> body) {
    return EmbeddedDatabase.applied(body, this);
  }

  /** Estimates sizes and split points of ranges. They ignore own writes and add no conflicts. */
  private record RangeEstimates(Attempt attempt, AttemptReads reads) {
    /**
     * Returns the estimated bytes in a range. The future fails with 2005 if the range is inverted.
     */
    CompletableFuture<Long> sizeBytes(byte[] begin, byte[] end) {
      return reads.answer(
          () -> {
            check(begin, end);
            return attempt.database.engine().estimatedSize(begin.clone(), end.clone());
          });
    }

    /**
     * Returns keys that split a range into chunks of about {@code chunkBytes}. The first is its
     * begin, the last its end. The future fails with 2005 if the range is inverted, 2004 if it
     * extends past FF.
     */
    CompletableFuture<KeyArrayResult> splitPoints(byte[] begin, byte[] end, long chunkBytes) {
      return reads.answer(
          () -> {
            check(begin, end);
            byte[] keysEnd = attempt.options.readEnd;
            if (Arrays.compareUnsigned(begin, keysEnd) > 0
                || Arrays.compareUnsigned(end, keysEnd) > 0) {
              throw FoundationDbError.KEY_OUTSIDE_LEGAL_RANGE.exception();
            }
            if (chunkBytes <= 0) {
              throw FoundationDbError.CLIENT_INVALID_OPERATION.exception();
            }
            return encoded(points(begin.clone(), end.clone(), chunkBytes));
          });
    }

    private void check(byte[] begin, byte[] end) {
      if (Arrays.compareUnsigned(begin, end) > 0) {
        throw FoundationDbError.INVERTED_RANGE.exception();
      }
      attempt.checkUsable();
    }

    private List<byte[]> points(byte[] begin, byte[] end, long chunkBytes) {
      List<byte[]> points = new ArrayList<>();
      points.add(begin);
      long bytes = 0;
      try (Cursor rows = attempt.snapshot().scan(begin, end, false)) {
        while (rows.next()) {
          byte[] key = rows.key();
          if (bytes >= chunkBytes) {
            points.add(key);
            bytes = 0;
          }
          bytes += key.length + rows.value().length;
        }
      }
      points.add(end);
      return points;
    }

    private static KeyArrayResult encoded(List<byte[]> keys) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      int[] lengths = new int[keys.size()];
      for (int i = 0; i < lengths.length; i++) {
        lengths[i] = keys.get(i).length;
        bytes.writeBytes(keys.get(i));
      }
      return new KeyArrayResult(bytes.toByteArray(), lengths);
    }
  }

  /** A view of a transaction whose reads add no read conflict ranges. */
  static final class SnapshotView implements RangeOverloads {
    private final EmbeddedTransaction transaction;

    SnapshotView(EmbeddedTransaction transaction) {
      this.transaction = transaction;
    }

    @Override
    public boolean isSnapshot() {
      return true;
    }

    @Override
    public ReadTransaction snapshot() {
      return this;
    }

    @Override
    public CompletableFuture<Long> getReadVersion() {
      return transaction.getReadVersion();
    }

    @Override
    public void setReadVersion(long version) {
      transaction.setReadVersion(version);
    }

    @Override
    public boolean addReadConflictRangeIfNotSnapshot(byte[] begin, byte[] end) {
      return false;
    }

    @Override
    public boolean addReadConflictKeyIfNotSnapshot(byte[] key) {
      return false;
    }

    @Override
    public CompletableFuture<byte[]> get(byte[] key) {
      return transaction.get(key, true);
    }

    @Override
    public CompletableFuture<byte[]> getKey(KeySelector selector) {
      return transaction.getKey(selector, true);
    }

    @Override
    public AsyncIterable<KeyValue> getRange(
        KeySelector begin, KeySelector end, int limit, boolean reverse, StreamingMode mode) {
      return transaction.range(begin, end, limit, reverse, mode, true);
    }

    @Override
    public CompletableFuture<Long> getEstimatedRangeSizeBytes(byte[] begin, byte[] end) {
      return transaction.getEstimatedRangeSizeBytes(begin, end);
    }

    @Override
    public CompletableFuture<KeyArrayResult> getRangeSplitPoints(
        byte[] begin, byte[] end, long chunkSize) {
      return transaction.getRangeSplitPoints(begin, end, chunkSize);
    }

    @Override
    public TransactionOptions options() {
      return transaction.options();
    }

    @Override
    public Executor getExecutor() {
      return transaction.getExecutor();
    }
  }
}
