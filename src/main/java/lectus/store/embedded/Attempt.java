package lectus.store.embedded;

import com.apple.foundationdb.EventKeeper;
import com.apple.foundationdb.FDBException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lectus.error.FoundationDbError;
import lectus.store.embedded.AttemptOptions.RetryPolicy;
import lectus.store.embedded.OwnWrites.WriteMap;
import lectus.store.embedded.Watches.Watch;
import lectus.store.embedded.Watches.WatchList;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.StoreSnapshot;

/**
 * The state of one attempt of a transaction, from its creation or the previous onError to the next
 * onError. The attempt's monitor guards all of it.
 */
final class Attempt {
  private static final long NO_VERSION = -1;

  final EmbeddedDatabase database;
  final Executor executor;

  /** Is told what is read; may be null. */
  final EventKeeper events;

  final RetryPolicy policy;
  final AttemptOptions options;
  final OwnWrites writes = new OwnWrites();
  final ConflictRanges readConflicts = new ConflictRanges();
  final ConflictRanges writeConflicts = new ConflictRanges();

  /** Null until a watch is opened. */
  WatchList watches;

  final PendingFutures pending = new PendingFutures();

  /** The transaction's size so far in bytes; repeated writes of a key all count. */
  long approximateSizeBytes;

  boolean hasRead;
  boolean commitCalled;

  /**
   * Whether the committer holds the attempt and so needs the conflict history from its version on.
   */
  private boolean committing;

  /** The first error of a mutator or option: what follows is dropped. */
  FDBException deferred;

  private FoundationDbError stopped;
  private FDBException readFailure;
  private long readVersion = NO_VERSION;
  private StoreSnapshot snapshot;
  private ScheduledFuture<?> timeout;

  Attempt(EmbeddedDatabase database, Executor executor, EventKeeper events, RetryPolicy policy) {
    this.database = database;
    this.executor = executor;
    this.events = events;
    this.policy = policy;
    options = new AttemptOptions(database.settings);
  }

  // ---- errors ------------------------------------------------------------------------------

  void checkDeferred() {
    if (deferred != null) {
      throw deferred;
    }
  }

  void checkUsable() {
    if (deferred != null) {
      throw deferred;
    }
    if (commitCalled) {
      throw FoundationDbError.USED_DURING_COMMIT.exception();
    }
    checkStopped();
  }

  void checkStopped() {
    if (stopped == null && isTimedOut()) {
      stopped = FoundationDbError.TRANSACTION_TIMED_OUT;
    }
    if (stopped != null) {
      throw stopped.exception();
    }
  }

  private boolean isTimedOut() {
    return policy.timeoutMillis > 0 && policy.nanosLeft(database.nanoTime.getAsLong()) <= 0;
  }

  /** Makes the commit fail with the error of a read that failed in flight. */
  void noteReadFailure(FDBException error) {
    if (readFailure == null && isInFlight(error.getCode())) {
      readFailure = error;
    }
  }

  private static boolean isInFlight(int code) {
    return code == FoundationDbError.ACCESSED_UNREADABLE.code()
        || code == FoundationDbError.TRANSACTION_TOO_OLD.code()
        || code == FoundationDbError.FUTURE_VERSION.code();
  }

  FDBException readFailure() {
    return readFailure;
  }

  /** Repeats a read from before commit was called, if commit has been called since. */
  <T> T readAgain(Supplier<T> read) {
    boolean called = commitCalled;
    commitCalled = false;
    try {
      return read.get();
    } finally {
      commitCalled = called;
    }
  }

  // ---- versions ----------------------------------------------------------------------------

  /**
   * Returns the store at this attempt's read version, held until the attempt ends.
   *
   * @throws FDBException 1007 if its version is too old, 1009 if it has not been reached
   * @throws IllegalStateException if the database is closed
   */
  StoreSnapshot snapshot() {
    database.checkOpen();
    if (snapshot == null) {
      Engine engine = database.engine();
      snapshot = hasReadVersion() ? engine.snapshot(readVersion) : engine.latest();
      readVersion = snapshot.version();
    }
    return snapshot;
  }

  boolean hasReadVersion() {
    return readVersion != NO_VERSION;
  }

  /** Returns the read version, or -1 if none has been taken. */
  long readVersion() {
    return readVersion;
  }

  /** Returns the read version. If none has been taken, takes the newest without its state. */
  long readVersionOrNewest() {
    if (!hasReadVersion()) {
      readVersion = database.engine().readVersion();
    }
    return readVersion;
  }

  /**
   * Takes a version from the application and holds its state from now on, as if the attempt had
   * asked for it. The transaction that the version comes from may end before this attempt's first
   * read.
   */
  void setReadVersion(long version) {
    readVersion = version;
    try {
      snapshot();
    } catch (FDBException notHeld) {
      // A read reports it; a transaction that only writes is not affected.
      snapshot = null;
    }
  }

  private void releaseSnapshot() {
    if (snapshot != null) {
      snapshot.close();
      snapshot = null;
    }
  }

  // ---- own writes and conflicts ------------------------------------------------------------

  /** Returns the transaction's own writes that a read sees, or null if it sees none. */
  WriteMap ownWrites(boolean snapshotRead) {
    return writes.log.isEmpty() || !options.seesOwnWrites(snapshotRead) ? null : writes.map();
  }

  /** Adds a key to the read conflict ranges if it is unmodified or dependent. */
  void addReadKey(byte[] key) {
    readConflicts.add(key, null);
    approximateSizeBytes += AttemptWrites.keyRangeBytes(key);
  }

  /** Adds the parts of a range that the store decides to the read conflict ranges. */
  void addReadRange(byte[] begin, byte[] end) {
    if (Arrays.compareUnsigned(begin, end) >= 0) {
      return;
    }
    if (options.readYourWritesDisabled || writes.log.isEmpty()) {
      addStoredPart(begin, end);
    } else {
      writes.map().storedParts(begin, end, this::addStoredPart);
    }
  }

  private void addStoredPart(byte[] begin, byte[] end) {
    readConflicts.add(begin, end);
    approximateSizeBytes += AttemptWrites.rangeBytes(begin, end);
  }

  // ---- the end -----------------------------------------------------------------------------

  /** Starts or restarts the timer of the TIMEOUT option. */
  synchronized void armTimeout() {
    if (timeout != null) {
      timeout.cancel(false);
      timeout = null;
    }
    if (policy.hasTimeout() && stopped == null) {
      database.checkOpen();
      long nanos = Math.max(0, policy.nanosLeft(database.nanoTime.getAsLong()));
      timeout =
          database
              .runtime
              .timer()
              .schedule(
                  () -> EmbeddedDatabase.callBack(executor, this::onTimeout),
                  nanos,
                  TimeUnit.NANOSECONDS);
    }
  }

  private void onTimeout() {
    synchronized (this) {
      if (!isTimedOut()) {
        return;
      }
    }
    stop(FoundationDbError.TRANSACTION_TIMED_OUT);
  }

  void beginCommitting() {
    committing = true;
  }

  /** Ends the attempt after its commit: nothing reads any more. */
  void endCommitting() {
    committing = false;
    end();
  }

  private void end() {
    if (timeout != null) {
      timeout.cancel(false);
      timeout = null;
    }
    releaseSnapshot();
  }

  /**
   * Cancels the attempt unless it is already cancelled. Pending futures fail with {@code error}.
   */
  void stop(FoundationDbError error) {
    List<CompletableFuture<?>> failing;
    synchronized (this) {
      if (stopped == null) {
        stopped = error;
      }
      failing = pending.take();
      if (!committing) {
        end();
      }
    }
    PendingFutures.fail(failing, error);
  }

  /** Hands over the watches that have not fired. */
  List<Watch> takeWatches() {
    return watches == null ? List.of() : watches.take();
  }

  /** Cancels the attempt for good. Watches that no commit has set fail as well. */
  void close() {
    stop(FoundationDbError.TRANSACTION_CANCELLED);
    List<Watch> unset;
    synchronized (this) {
      unset = committing ? List.of() : takeWatches();
    }
    unset.forEach(
        watch ->
            watch
                .future()
                .completeExceptionally(FoundationDbError.TRANSACTION_CANCELLED.exception()));
  }

  /** The futures of an attempt that may be incomplete, guarded by the attempt's monitor. */
  static final class PendingFutures {
    private List<CompletableFuture<?>> all = List.of();
    private List<CompletableFuture<?>> reads = List.of();

    void add(CompletableFuture<?> future) {
      if (all.isEmpty()) {
        all = new ArrayList<>(2);
      }
      all.add(future);
    }

    /** Adds a read that waits for its version. */
    void addRead(CompletableFuture<?> read) {
      add(read);
      if (reads.isEmpty()) {
        reads = new ArrayList<>(1);
      }
      reads.add(read);
    }

    /**
     * Returns a future that completes when no read waits any more, whatever their outcomes. Null if
     * none has waited.
     */
    CompletableFuture<Void> reads() {
      if (reads.isEmpty()) {
        return null;
      }
      return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new))
          .handle((done, error) -> null);
    }

    /** Hands over the futures, to be failed outside the monitor. */
    List<CompletableFuture<?>> take() {
      List<CompletableFuture<?>> taken = all;
      all = List.of();
      return taken;
    }

    static void fail(List<CompletableFuture<?>> futures, FoundationDbError error) {
      for (CompletableFuture<?> future : futures) {
        // Most are done, and an exception with its stack trace costs more than the transaction did.
        if (!future.isDone()) {
          future.completeExceptionally(error.exception());
        }
      }
    }
  }

  /**
   * The ranges that a transaction has read or written. Adding is cheap; they are merged at commit.
   */
  static final class ConflictRanges {
    private static final int FIRST_BOUNDS = 16;
    private static final byte[][] NONE = {};

    /** The begin and end of each range in turn. */
    private byte[][] bounds = NONE;

    private int length;

    boolean isEmpty() {
      return length == 0;
    }

    /**
     * @param end null for the range of a single key
     */
    void add(byte[] begin, byte[] end) {
      if (length == bounds.length) {
        bounds = Arrays.copyOf(bounds, Math.max(FIRST_BOUNDS, 2 * length));
      }
      bounds[length++] = begin;
      bounds[length++] = end;
    }

    /** Returns the ranges sorted, with overlapping and touching ranges merged. */
    List<KeyRange> merged() {
      List<KeyRange> sorted = sorted();
      if (sorted.size() < 2) {
        return sorted;
      }
      List<KeyRange> merged = new ArrayList<>(sorted.size());
      KeyRange open = sorted.get(0);
      for (int i = 1; i < sorted.size(); i++) {
        KeyRange next = sorted.get(i);
        if (Arrays.compareUnsigned(next.begin(), open.end()) > 0) {
          merged.add(open);
          open = next;
        } else if (Arrays.compareUnsigned(next.end(), open.end()) > 0) {
          open = new KeyRange(open.begin(), next.end());
        }
      }
      merged.add(open);
      return merged;
    }

    private List<KeyRange> sorted() {
      List<KeyRange> ranges = new ArrayList<>(length / 2);
      boolean inOrder = true;
      for (int i = 0; i < length; i += 2) {
        byte[] begin = bounds[i];
        byte[] end = bounds[i + 1];
        inOrder &= i == 0 || Arrays.compareUnsigned(bounds[i - 2], begin) <= 0;
        ranges.add(end == null ? KeyRange.of(begin) : new KeyRange(begin, end));
      }
      if (!inOrder) {
        ranges.sort(null);
      }
      return ranges;
    }
  }
}
