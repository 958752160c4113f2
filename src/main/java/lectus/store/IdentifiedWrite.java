package lectus.store;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import lectus.error.FoundationDbError;
import lectus.error.LectusException;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.Run;
import lectus.store.TransactionRunner.Work;

/**
 * One logical write on a store whose commits may end with an unknown result (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/003-fdb-seq-index.md">RFC
 * 003</a>, Handling of Unknown Commit Results). All attempts share an id and write it with the
 * data. So at most one attempt is ever stored, and the next attempt can find out which.
 *
 * <p>An attempt is in doubt when its commit failed with an unknown result or timed out: the commit
 * may still arrive later. While any attempt is in doubt, each run begins by reading the id. If no
 * run follows, the doubt is settled: either the id is found, or it is written for no attempt, after
 * which none can be stored any more.
 */
final class IdentifiedWrite<T> implements Work<CommitResult<T>> {
  private final TransactionIds ids;
  private final Function<? super Transaction, ? extends T> body;
  private final Predicate<? super T> writes;
  private final byte[] id;
  private final Map<Integer, T> doubtful = new HashMap<>();
  private long doubtfulSince;
  private int attempts;

  /** Whether the last run found nothing to write and so cannot be in doubt. */
  private boolean idle;

  /**
   * @param writes whether a body that returned this value has written anything
   */
  IdentifiedWrite(
      TransactionIds ids,
      Function<? super Transaction, ? extends T> body,
      Predicate<? super T> writes) {
    this.ids = ids;
    this.body = body;
    this.writes = writes;
    this.id = ids.next();
  }

  @Override
  public Run<CommitResult<T>> run(Transaction tx) {
    CompletableFuture<Long> readVersion = tx.getReadVersion();
    idle = false;
    Optional<CommitResult<T>> earlier = isInDoubt() ? find(tx) : Optional.empty();
    if (earlier.isPresent()) {
      ids.finished(id);
      return Run.of(earlier.get());
    }
    T value = body.apply(tx);
    idle = !isInDoubt() && !writes.test(value);
    if (idle) {
      return Run.committing(tx.commit(), () -> new CommitResult<>(value, null));
    }
    return store(tx, value, Awaiting.await(readVersion));
  }

  private Run<CommitResult<T>> store(Transaction tx, T value, long readVersion) {
    int attempt = ++attempts;
    ids.subspace().put(tx, id, attempt);
    CompletableFuture<byte[]> versionstamp = tx.getVersionstamp();
    CompletableFuture<Void> commit = tx.commit();
    return new Run<>(
        commit,
        versionstamp,
        () -> {
          awaitOrDoubt(commit, attempt, value, readVersion);
          ids.finished(id);
          return new CommitResult<>(value, Awaiting.awaitAnswer(versionstamp));
        });
  }

  private void awaitOrDoubt(
      CompletableFuture<Void> commit, int attempt, T value, long readVersion) {
    try {
      Awaiting.awaitAnswer(commit);
    } catch (FDBException failure) {
      if (!FoundationDbError.isCertainlyNotStored(failure.getCode())) {
        doubtfulSince = isInDoubt() ? doubtfulSince : readVersion;
        doubtful.put(attempt, value);
      }
      throw failure;
    }
  }

  @Override
  public boolean mayFollow(int code) {
    return FoundationDbError.isRetryable(code)
        || ((isInDoubt() || idle) && FoundationDbError.isUnknownResult(code));
  }

  /** Looks for an attempt that was stored, or makes sure that none ever is. */
  @Override
  public Optional<Work<CommitResult<T>>> ending(RuntimeException failure) {
    return isInDoubt() ? Optional.of(new Settling(failure)) : Optional.empty();
  }

  private boolean isInDoubt() {
    return !doubtful.isEmpty();
  }

  /** Returns the attempt that was stored. The read adds a read conflict. */
  private Optional<CommitResult<T>> find(Transaction tx) {
    return Awaiting.await(found(tx));
  }

  private CompletableFuture<Optional<CommitResult<T>>> found(Transaction tx) {
    CompletableFuture<Long> readVersion = tx.getReadVersion();
    return tx.get(ids.subspace().key(id)).thenCombine(readVersion, this::attempt);
  }

  private Optional<CommitResult<T>> attempt(byte[] row, long readVersion) {
    if (row == null) {
      if (readVersion - doubtfulSince > TransactionIds.KEPT_VERSIONS) {
        throw StoreFailures.unknownResult("too late");
      }
      return Optional.empty();
    }
    TransactionIdSubspace.Trace trace = TransactionIdSubspace.trace(row);
    return trace.attempt() == TransactionIdSubspace.NONE
        ? Optional.empty()
        : Optional.of(new CommitResult<>(doubtful.get(trace.attempt()), trace.versionstamp()));
  }

  /**
   * Settles the doubt after the last attempt. It may be stored twice. No run of it waits: many
   * writes that were in flight when a cluster fell silent are settled side by side.
   */
  private final class Settling implements Work<CommitResult<T>> {
    private final RuntimeException last;
    private boolean isSettled;

    Settling(RuntimeException last) {
      this.last = last;
    }

    @Override
    public Run<CommitResult<T>> run(Transaction tx) {
      CompletableFuture<Optional<CommitResult<T>>> found = found(tx);
      CompletableFuture<Void> commit =
          found.thenCompose(
              stored -> {
                if (stored.isEmpty()) {
                  ids.subspace().put(tx, id, TransactionIdSubspace.NONE);
                }
                return tx.commit();
              });
      return Run.committing(commit, () -> settled(found));
    }

    private CommitResult<T> settled(CompletableFuture<Optional<CommitResult<T>>> found) {
      isSettled = true;
      ids.finished(id);
      return Awaiting.awaitAnswer(found).orElseThrow(this::notStored);
    }

    private RuntimeException notStored() {
      return last instanceof FDBException lost && FoundationDbError.isUnknownResult(lost.getCode())
          ? new LectusException(StoreFailures.GIVEN_UP)
          : last;
    }

    @Override
    public boolean mayFollow(int code) {
      return !isSettled
          && (FoundationDbError.isRetryable(code) || FoundationDbError.isUnknownResult(code));
    }

    @Override
    public RuntimeException told(RuntimeException failure) {
      return isSettled || !leavesDoubt(failure)
          ? failure
          : StoreFailures.unknownResult(
              last instanceof FDBException lost ? Integer.toString(lost.getCode()) : "no answer");
    }

    /** A closed store throws {@link IllegalStateException}. */
    private static boolean leavesDoubt(RuntimeException failure) {
      return failure instanceof FDBException
          || failure instanceof LectusException
          || failure instanceof IllegalStateException;
    }
  }
}
