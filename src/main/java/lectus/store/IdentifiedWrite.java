package lectus.store;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import lectus.error.LectusException;

/**
 * One logical write on a store that may not tell whether a commit was stored (RFC 003, Handling of
 * Unknown Commit Results). All its attempts share an id and leave it in the store, so that at most
 * one of them is ever stored, and the next one finds out which.
 *
 * <p>An attempt is in doubt when the store answered its commit with an unknown result, and also
 * when the call timed out: the commit may arrive later. While there is doubt each run begins by
 * reading the id. If no run follows, the doubt is settled: either the id is there, or it is written
 * on behalf of no attempt, after which none can be stored any more.
 */
final class IdentifiedWrite<T> implements Work<Committed<T>> {
  private final TransactionIds ids;
  private final Function<? super Transaction, ? extends T> body;
  private final Predicate<? super T> writes;
  private final byte[] id;
  private final Map<Integer, T> doubtful = new HashMap<>();
  private long doubtfulSince;
  private int attempts;

  /** The last run found nothing to write, so that nothing of it can be in doubt. */
  private boolean idle;

  /**
   * @param writes whether a body that gave this value has written anything
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
  public Run<Committed<T>> run(Transaction tx) {
    CompletableFuture<Long> readVersion = tx.getReadVersion();
    idle = false;
    Optional<Committed<T>> earlier = isInDoubt() ? find(tx) : Optional.empty();
    if (earlier.isPresent()) {
      ids.finished(id);
      return Run.of(earlier.get());
    }
    T value = body.apply(tx);
    idle = !isInDoubt() && !writes.test(value);
    if (idle) {
      return Run.committing(tx.commit(), new Committed<>(value, null));
    }
    return store(tx, value, Reads.await(readVersion));
  }

  private Run<Committed<T>> store(Transaction tx, T value, long readVersion) {
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
          return new Committed<>(value, Reads.await(versionstamp));
        });
  }

  private void awaitOrDoubt(
      CompletableFuture<Void> commit, int attempt, T value, long readVersion) {
    try {
      Reads.await(commit);
    } catch (FDBException failure) {
      if (!RetryableErrors.isCertainlyNotStored(failure.getCode())) {
        doubtfulSince = isInDoubt() ? doubtfulSince : readVersion;
        doubtful.put(attempt, value);
      }
      throw failure;
    }
  }

  @Override
  public boolean mayFollow(int code) {
    return RetryableErrors.isRetryable(code)
        || ((isInDoubt() || idle) && RetryableErrors.isUnknownResult(code));
  }

  @Override
  public Committed<T> end(RuntimeException failure) {
    if (!isInDoubt()) {
      throw failure;
    }
    return settle(failure).orElseThrow(() -> notStored(failure));
  }

  private boolean isInDoubt() {
    return !doubtful.isEmpty();
  }

  /** The attempt that was stored, found by a read that the transaction conflicts by. */
  private Optional<Committed<T>> find(Transaction tx) {
    byte[] value = Reads.await(tx.get(ids.subspace().key(id)));
    if (value == null) {
      checkNotSwept(tx);
      return Optional.empty();
    }
    TransactionIdSubspace.Trace trace = TransactionIdSubspace.trace(value);
    return trace.attempt() == TransactionIdSubspace.NONE
        ? Optional.empty()
        : Optional.of(new Committed<>(doubtful.get(trace.attempt()), trace.versionstamp()));
  }

  private void checkNotSwept(Transaction tx) {
    if (Reads.await(tx.getReadVersion()) - doubtfulSince > TransactionIds.KEPT_VERSIONS) {
      throw RetryableErrors.unknownResult("too late");
    }
  }

  /** Finds the attempt that was stored, or sees to it that none is. */
  private Optional<Committed<T>> settle(RuntimeException failure) {
    try {
      Optional<Committed<T>> stored = ids.transactions().runIdempotent(this::findOrForbid);
      ids.finished(id);
      return stored;
    } catch (FDBException | LectusException silence) {
      throw RetryableErrors.unknownResult(
          failure instanceof FDBException lost ? Integer.toString(lost.getCode()) : "no answer");
    }
  }

  private Optional<Committed<T>> findOrForbid(Transaction tx) {
    Optional<Committed<T>> stored = find(tx);
    if (stored.isEmpty()) {
      ids.subspace().put(tx, id, TransactionIdSubspace.NONE);
    }
    return stored;
  }

  private static RuntimeException notStored(RuntimeException failure) {
    return failure instanceof FDBException lost && RetryableErrors.isUnknownResult(lost.getCode())
        ? new LectusException(StoreFailures.GIVEN_UP)
        : failure;
  }
}
