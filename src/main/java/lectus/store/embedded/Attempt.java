package lectus.store.embedded;

import com.apple.foundationdb.EventKeeper;
import com.apple.foundationdb.FDBException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.read.StoreSnapshot;

/**
 * The state of one attempt of a transaction, from its creation or the previous onError to the next
 * onError. The attempt's monitor guards all of it.
 */
final class Attempt {
  private static final long NO_VERSION = -1;

  final Environment environment;
  final Executor executor;

  /** Is told what is read; may be null. */
  final EventKeeper events;

  final RetryPolicy policy;
  final AttemptOptions options;
  final WriteLog writes = new WriteLog();
  final ConflictRanges readConflicts = new ConflictRanges();
  final ConflictRanges writeConflicts = new ConflictRanges();
  final WatchList watches = new WatchList();
  final PendingFutures pending = new PendingFutures();

  /** The transaction's size so far in bytes; repeated writes of a key all count. */
  long approximateSizeBytes;

  boolean hasRead;
  boolean commitCalled;

  /**
   * Whether the committer holds the attempt and so needs the conflict history from its version on.
   */
  private boolean committing;

  private FDBException deferred;
  private StoreError stopped;
  private FDBException readFailure;
  private long readVersion = NO_VERSION;
  private StoreSnapshot snapshot;
  private ScheduledFuture<?> timeout;

  Attempt(Environment environment, Executor executor, EventKeeper events, RetryPolicy policy) {
    this.environment = environment;
    this.executor = executor;
    this.events = events;
    this.policy = policy;
    options = new AttemptOptions(environment.settings());
  }

  // ---- errors ------------------------------------------------------------------------------

  /** Keeps the first error of a mutator or option. */
  void defer(FDBException error) {
    if (deferred == null) {
      deferred = error;
    }
  }

  boolean isDeferred() {
    return deferred != null;
  }

  void checkDeferred() {
    if (deferred != null) {
      throw deferred;
    }
  }

  void checkUsable() {
    if (commitCalled) {
      throw StoreError.USED_DURING_COMMIT.exception();
    }
    checkStopped();
  }

  void checkStopped() {
    if (stopped == null && isTimedOut()) {
      stopped = StoreError.TRANSACTION_TIMED_OUT;
    }
    if (stopped != null) {
      throw stopped.exception();
    }
  }

  private boolean isTimedOut() {
    return policy.hasTimeout() && policy.nanosLeft(environment.nanoTime().getAsLong()) <= 0;
  }

  /** Makes the commit fail with the error of a read that failed in flight. */
  void noteReadFailure(FDBException error) {
    if (readFailure == null && isInFlight(error.getCode())) {
      readFailure = error;
    }
  }

  private static boolean isInFlight(int code) {
    return code == StoreError.ACCESSED_UNREADABLE.code()
        || code == StoreError.TRANSACTION_TOO_OLD.code()
        || code == StoreError.FUTURE_VERSION.code();
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
    environment.open().check();
    if (snapshot == null) {
      Engine engine = environment.engine();
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
      readVersion = environment.engine().readVersion();
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
    return writes.isEmpty() || !options.seesOwnWrites(snapshotRead) ? null : writes.map();
  }

  /** Adds a key to the read conflict ranges if it is unmodified or dependent. */
  void addReadKey(byte[] key) {
    readConflicts.addKey(key);
    approximateSizeBytes += TransactionSize.keyRangeBytes(key);
  }

  /** Adds the parts of a range that the store decides to the read conflict ranges. */
  void addReadRange(byte[] begin, byte[] end) {
    if (KeySpace.compare(begin, end) >= 0) {
      return;
    }
    if (options.readYourWritesDisabled || writes.isEmpty()) {
      addStoredPart(begin, end);
    } else {
      writes.map().storedParts(begin, end, this::addStoredPart);
    }
  }

  private void addStoredPart(byte[] begin, byte[] end) {
    readConflicts.add(begin, end);
    approximateSizeBytes += TransactionSize.rangeBytes(begin, end);
  }

  // ---- the end -----------------------------------------------------------------------------

  /** Starts or restarts the timer of the TIMEOUT option. */
  synchronized void armTimeout() {
    if (timeout != null) {
      timeout.cancel(false);
      timeout = null;
    }
    if (policy.hasTimeout() && stopped == null) {
      environment.open().check();
      long nanos = Math.max(0, policy.nanosLeft(environment.nanoTime().getAsLong()));
      timeout =
          environment
              .timer()
              .schedule(() -> Futures.on(executor, this::onTimeout), nanos, TimeUnit.NANOSECONDS);
    }
  }

  private void onTimeout() {
    synchronized (this) {
      if (!isTimedOut()) {
        return;
      }
    }
    stop(StoreError.TRANSACTION_TIMED_OUT);
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
  void stop(StoreError error) {
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

  /** Cancels the attempt for good. Watches that no commit has set fail as well. */
  void close() {
    stop(StoreError.TRANSACTION_CANCELLED);
    List<Watch> unset;
    synchronized (this) {
      unset = committing ? List.of() : watches.take();
    }
    unset.forEach(
        watch ->
            watch.future().completeExceptionally(StoreError.TRANSACTION_CANCELLED.exception()));
  }
}
