package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import lectus.error.FoundationDbError;
import lectus.store.embedded.Watches.Watch;
import lectus.store.embedded.engine.CommitRequest;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitStamp;
import lectus.store.embedded.engine.StoreSnapshot;

/** The commit of an attempt and its results: version, versionstamp and active watches. */
final class Commit {
  static final long NOT_COMMITTED = -1;
  private static final long NO_READ_VERSION = -1;

  /** How long an answer waits for memory before it is tried again. */
  private static final long RETRY_NANOS = 5_000_000;

  private final Attempt attempt;
  private final List<CompletableFuture<byte[]>> stamps = new ArrayList<>(0);

  /** To be activated when the commit is answered; null before. */
  private List<Watch> watches;

  private volatile long committedVersion;

  /**
   * @param committedVersion the version of an earlier attempt, returned until this one commits
   */
  Commit(Attempt attempt, long committedVersion) {
    this.attempt = attempt;
    this.committedVersion = committedVersion;
  }

  /** Returns the commit version; -1 before it is known and after a read-only commit. */
  long committedVersion() {
    return committedVersion;
  }

  CompletableFuture<byte[]> getVersionstamp() {
    synchronized (attempt) {
      try {
        attempt.checkUsable();
      } catch (FDBException error) {
        return CompletableFuture.failedFuture(error);
      }
      CompletableFuture<byte[]> stamp = new CompletableFuture<>();
      attempt.pending.add(stamp);
      stamps.add(stamp);
      return stamp;
    }
  }

  CompletableFuture<Void> commit() {
    CompletableFuture<Void> waitingReads;
    CompletableFuture<Void> result = new CompletableFuture<>();
    synchronized (attempt) {
      try {
        attempt.checkUsable();
      } catch (FDBException error) {
        return CompletableFuture.failedFuture(error);
      }
      attempt.commitCalled = true;
      attempt.pending.add(result);
      waitingReads = attempt.pending.reads();
    }
    if (waitingReads == null) {
      submit(result);
    } else {
      waitingReads.thenRun(() -> submit(result));
    }
    return result;
  }

  private void submit(CompletableFuture<Void> result) {
    CommitRequest request;
    try {
      request = prepare();
    } catch (RuntimeException | Error error) {
      // Every failure must complete the future, because a caller waits for it.
      answer(result, null, error);
      return;
    }
    if (request == null) {
      answer(result, null, null);
    } else {
      send(result, request);
    }
  }

  /** Returns the request for the committer, or null if there is nothing to commit. */
  private CommitRequest prepare() {
    synchronized (attempt) {
      attempt.checkStopped();
      if (attempt.readFailure() != null) {
        throw attempt.readFailure();
      }
      if (isReadOnly()) {
        return null;
      }
      if (attempt.options.readOnly) {
        throw FoundationDbError.TRANSACTION_READ_ONLY.exception();
      }
      CommitRequest request = request();
      attempt.beginCommitting();
      return request;
    }
  }

  private boolean isReadOnly() {
    return attempt.writes.log.isEmpty() && attempt.writeConflicts.isEmpty();
  }

  private void send(CompletableFuture<Void> result, CommitRequest request) {
    CompletableFuture<CommitReceipt> receipt;
    try {
      receipt = attempt.database.engine().commit(request);
    } catch (RuntimeException | Error refused) {
      answer(result, null, refused);
      return;
    }
    for (boolean awaited = false; !awaited; ) {
      try {
        await(receipt, result);
        awaited = true;
      } catch (OutOfMemoryError noMemory) {
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }

  /** The engine answers a group's commits one after the other, so no callback may run meanwhile. */
  private void await(CompletableFuture<CommitReceipt> receipt, CompletableFuture<Void> result) {
    receipt.whenComplete(
        (committed, error) -> {
          try {
            EmbeddedDatabase.callBack(attempt.executor, () -> answer(result, committed, error));
          } catch (Error noMemory) {
            answer(result, committed, error);
          }
        });
  }

  /** Tells who waits for the commit or its versionstamp: if need be once there is memory for it. */
  private void answer(CompletableFuture<Void> result, CommitReceipt receipt, Throwable error) {
    for (boolean told = false; !told; ) {
      try {
        if (error == null) {
          committed(receipt);
          result.complete(null);
        } else {
          failed(result, error instanceof CompletionException ? error.getCause() : error);
        }
        told = true;
      } catch (OutOfMemoryError noMemory) {
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }

  private CommitRequest request() {
    List<KeyRange> reads = attempt.readConflicts.merged();
    List<KeyRange> writes = attempt.writeConflicts.merged();
    checkSize(reads, writes);
    checkWindow();
    // Without a read, the read version is taken now, and no later commit can conflict.
    boolean mayLose = attempt.hasReadVersion() && !reads.isEmpty();
    long readVersion = attempt.readVersionOrNewest();
    return new CommitRequest(
        mayLose ? readVersion : NO_READ_VERSION,
        mayLose ? reads : List.of(),
        writes,
        attempt.options.readYourWritesDisabled
            ? attempt.writes.inOrder()
            : attempt.writes.mutations(),
        attempt.options.allWritesRecorded,
        attempt.options.urgent);
  }

  private void checkWindow() {
    long now = attempt.database.engine().readVersion();
    if (attempt.hasReadVersion() && now - attempt.readVersion() > StoreSnapshot.WINDOW_VERSIONS) {
      throw FoundationDbError.TRANSACTION_TOO_OLD.exception();
    }
  }

  private void checkSize(List<KeyRange> reads, List<KeyRange> writes) {
    long limit = attempt.options.sizeLimitBytes;
    long ranges = bytes(reads) + bytes(writes);
    if (ranges + attempt.writes.sizeAtMostBytes() <= limit) {
      return;
    }
    if (attempt.options.readYourWritesDisabled
        || ranges + attempt.writes.exactSizeBytes() > limit) {
      throw FoundationDbError.TRANSACTION_TOO_LARGE.exception();
    }
  }

  private static long bytes(List<KeyRange> ranges) {
    long bytes = 0;
    for (KeyRange range : ranges) {
      bytes += AttemptWrites.RANGE_BYTES + range.bytes();
    }
    return bytes;
  }

  /**
   * @param receipt null if the transaction was read-only
   */
  private void committed(CommitReceipt receipt) {
    end();
    if (receipt == null) {
      committedVersion = NOT_COMMITTED;
      stamps.forEach(
          stamp -> stamp.completeExceptionally(FoundationDbError.NO_COMMIT_VERSION.exception()));
    } else {
      committedVersion = receipt.version();
      stamps.forEach(
          stamp -> stamp.complete(CommitStamp.stamp(receipt.version(), receipt.batchOrder())));
    }
    attempt.database.watches.activate(watches);
  }

  private void failed(CompletableFuture<Void> result, Throwable error) {
    end();
    stamps.forEach(
        stamp ->
            stamp.completeExceptionally(FoundationDbError.TRANSACTION_INVALID_VERSION.exception()));
    watches.forEach(watch -> watch.future().completeExceptionally(error));
    result.completeExceptionally(error);
  }

  private void end() {
    synchronized (attempt) {
      attempt.endCommitting();
      if (watches == null) {
        watches = attempt.takeWatches();
      }
    }
  }

  /** Fails the requested versionstamps: another attempt replaces this one. */
  void abandon() {
    stamps.forEach(
        stamp -> stamp.completeExceptionally(FoundationDbError.BROKEN_PROMISE.exception()));
  }
}
