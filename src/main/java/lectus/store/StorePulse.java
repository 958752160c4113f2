package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import lectus.error.LectusError;

/**
 * Whether the store answers reads and takes commits. However many ask, it is tried at most once a
 * second, and nobody waits longer than the patience lasts.
 */
public final class StorePulse {
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Optional<String> WELL = Optional.empty();

  private final Database database;
  private final byte[] key;
  private final long patienceMillis;
  private final LongSupplier nanoTime;
  private Beat last;

  public StorePulse(Store store) {
    this(store.database(), store.rootPrefix(), PATIENCE, System::nanoTime);
  }

  /**
   * @param patience after this, a store that is silent counts as one that does not answer
   */
  StorePulse(Database database, byte[] root, Duration patience, LongSupplier nanoTime) {
    this.database = database;
    this.key = RootSubspace.STORE_ID.key(root).string("pulse").toBytes();
    this.patienceMillis = patience.toMillis();
    this.nanoTime = nanoTime;
  }

  /** One try of the store, which may still be under way. */
  private record Beat(long begunNanos, CompletableFuture<Optional<String>> complaint) {
    boolean serves(long now) {
      return !complaint.isDone() || now - begunNanos < FRESH_NANOS;
    }
  }

  /**
   * Empty if the store is well, else a sentence. Does not block; the future is never completed
   * exceptionally.
   */
  public synchronized CompletableFuture<Optional<String>> ask() {
    long now = nanoTime.getAsLong();
    if (last == null || !last.serves(now)) {
      last = new Beat(now, beat());
    }
    return last.complaint();
  }

  private CompletableFuture<Optional<String>> beat() {
    return tried()
        .handle((none, failure) -> failure == null ? WELL : Optional.of(sentence(failure)))
        .completeOnTimeout(
            Optional.of(StoreFailures.SILENCE.reason()), patienceMillis, TimeUnit.MILLISECONDS);
  }

  /**
   * Commits a transaction that writes nothing: a conflict range alone takes the whole way, which a
   * transaction without mutations and conflict ranges does not.
   */
  private CompletableFuture<Void> tried() {
    Transaction transaction;
    try {
      transaction = database.createTransaction();
    } catch (RuntimeException closed) {
      return CompletableFuture.failedFuture(closed);
    }
    return commit(transaction).whenComplete((none, failure) -> transaction.close());
  }

  private CompletableFuture<Void> commit(Transaction transaction) {
    try {
      // Ends what a silent cluster would leave behind, after the patience is at its end.
      transaction.options().setTimeout(2 * patienceMillis);
      transaction.addWriteConflictKey(key);
      return transaction.getReadVersion().thenCompose(version -> transaction.commit());
    } catch (RuntimeException failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }

  private static String sentence(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof FDBException lost) {
      String unforeseen = cause.getMessage() + " (" + lost.getCode() + ")";
      return StoreFailures.errorOf(lost)
          .map(LectusError::reason)
          .orElse("The store does not work: " + unforeseen + ".");
    }
    return "The store does not work: " + cause.getMessage() + ".";
  }
}
