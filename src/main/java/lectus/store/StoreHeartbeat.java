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
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tests whether the store answers reads and accepts commits. It tests at most once a second however
 * many callers ask, and no caller waits longer than the patience.
 */
public final class StoreHeartbeat {
  private static final Logger LOG = LoggerFactory.getLogger(StoreHeartbeat.class);

  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Optional<String> WELL = Optional.empty();

  private final Database database;
  private final byte[] key;
  private final long patienceMillis;
  private final LongSupplier nanoTime;
  private Beat last;

  /** The failure that was logged last, as text; empty while the store is well. */
  private volatile String logged = "";

  public StoreHeartbeat(Store store) {
    this(store.database(), store.rootPrefix(), PATIENCE, System::nanoTime);
  }

  /**
   * @param patience how long the store may stay silent before it counts as unavailable
   */
  StoreHeartbeat(Database database, byte[] root, Duration patience, LongSupplier nanoTime) {
    this.database = database;
    this.key = RootSubspace.STORE_ID.key(root).string("pulse").toBytes();
    this.patienceMillis = patience.toMillis();
    this.nanoTime = nanoTime;
  }

  /** One test of the store, possibly still under way. */
  private record Beat(long begunNanos, CompletableFuture<Optional<String>> complaint) {
    boolean serves(long now) {
      return !complaint.isDone() || now - begunNanos < FRESH_NANOS;
    }
  }

  /**
   * Returns empty if the store is well, otherwise a sentence. Does not block. The future never
   * completes exceptionally.
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
        .exceptionallyCompose(this::again)
        .handle((none, failure) -> failure == null ? well() : Optional.of(sentence(failure)))
        .completeOnTimeout(
            Optional.of(StoreFailures.SILENCE.reason()), patienceMillis, TimeUnit.MILLISECONDS);
  }

  /** A recovery of the cluster cuts off commits; this one wrote nothing, so it may run again. */
  private CompletableFuture<Void> again(Throwable failure) {
    return isCutOff(unwrapped(failure)) ? tried() : CompletableFuture.failedFuture(failure);
  }

  private static boolean isCutOff(Throwable failure) {
    return failure instanceof FDBException lost
        && FoundationDbError.isUnknownResult(lost.getCode())
        && !FoundationDbError.isOver(lost.getCode());
  }

  /**
   * Commits a transaction that writes nothing. Its conflict range takes it along the whole commit
   * path; without mutations and conflict ranges it would skip that.
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
      // Ends calls to a silent cluster once the patience has run out.
      transaction.options().setTimeout(2 * patienceMillis);
      transaction.addWriteConflictKey(key);
      return transaction.getReadVersion().thenCompose(version -> transaction.commit());
    } catch (RuntimeException failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }

  private Optional<String> well() {
    logged = "";
    return WELL;
  }

  private String sentence(Throwable failure) {
    Throwable cause = unwrapped(failure);
    if (isCutOff(cause)) {
      return StoreFailures.SILENCE.reason();
    }
    return StoreFailures.foreseen(cause)
        .map(LectusError::reason)
        .orElseGet(
            () -> {
              log(cause);
              return "The store does not work; the log says why.";
            });
  }

  private static Throwable unwrapped(Throwable failure) {
    return failure instanceof CompletionException ? failure.getCause() : failure;
  }

  /** Once, however often it comes again. */
  private void log(Throwable unforeseen) {
    String line = unforeseen.toString();
    if (!line.equals(logged)) {
      logged = line;
      LOG.error("The store does not work", unforeseen);
    }
  }
}
