package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import lectus.derived.rows.JobsSubspace.Job;
import lectus.json.MalformedTupleException;
import lectus.json.MalformedTupleException.NewerFormatException;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * The jobs of all databases as the workers of one server see them, some at a time, over and over.
 * Workers look at their own pace while definitions change, or while one of them finds something to
 * do. Otherwise only one of them looks now and then, in case that another server has begun a job.
 * Jobs of a later format are left alone: servers of that version work on them. Thread-safe.
 */
public final class JobList {
  static final int MAX_JOBS = 100;

  private static final long SELDOM_NANOS = Duration.ofSeconds(5).toNanos();

  /** The transaction that begins a job may last so long after its definition is noticed. */
  private static final long EAGER_NANOS = Duration.ofSeconds(6).toNanos();

  private final JobsSubspace jobs;
  private final TransactionRunner transactions;
  private final LongSupplier definitions;
  private final LongSupplier nanoClock;
  private long seen;
  private long lookedNanos;
  private long eagerUntilNanos;
  private Optional<byte[]> last = Optional.empty();

  /**
   * @param definitions changes whenever this server may begin a job, and needs no look at the store
   */
  public JobList(Store store, LongSupplier definitions) {
    this(store, definitions, System::nanoTime);
  }

  JobList(Store store, LongSupplier definitions, LongSupplier nanoClock) {
    this.jobs = new JobsSubspace(store.rootPrefix());
    this.transactions =
        new TransactionRunner(store, new TransactionLimits(0, Duration.ofSeconds(10)));
    this.definitions = definitions;
    this.nanoClock = nanoClock;
    this.seen = definitions.getAsLong();
    this.lookedNanos = nanoClock.getAsLong() - SELDOM_NANOS;
    this.eagerUntilNanos = nanoClock.getAsLong();
  }

  /** Whether a worker that found nothing when it looked last is to look again. */
  synchronized boolean isDue() {
    long now = nanoClock.getAsLong();
    long current = definitions.getAsLong();
    if (current != seen) {
      seen = current;
      eagerUntilNanos = now + EAGER_NANOS;
    }
    boolean isDue = now - eagerUntilNanos < 0 || now - lookedNanos >= SELDOM_NANOS;
    if (isDue) {
      lookedNanos = now;
    }
    return isDue;
  }

  /** Notes that there is something to do, perhaps for others, too. */
  synchronized void found() {
    eagerUntilNanos = nanoClock.getAsLong() + EAGER_NANOS;
  }

  /**
   * Some jobs.
   *
   * @param failure why some other one cannot be read
   */
  record Some(List<Job> readable, Optional<RuntimeException> failure) {}

  /** Returns the next ones, or the first ones after the last. */
  Some next() {
    Optional<byte[]> behind = last();
    List<KeyValue> rows =
        transactions.read(tx -> Awaiting.await(jobs.behind(tx, behind, MAX_JOBS)));
    lookedAt(
        rows.size() == MAX_JOBS
            ? Optional.of(rows.get(rows.size() - 1).getKey())
            : Optional.empty());
    List<Job> readable = new ArrayList<>();
    Optional<RuntimeException> failure = Optional.empty();
    for (KeyValue row : rows) {
      try {
        readable.add(jobs.decode(row));
      } catch (NewerFormatException ofLaterVersion) {
        continue;
      } catch (MalformedTupleException | IllegalArgumentException damaged) {
        failure = Optional.of(damaged);
      }
    }
    return new Some(readable, failure);
  }

  private synchronized Optional<byte[]> last() {
    return last;
  }

  private synchronized void lookedAt(Optional<byte[]> row) {
    last = row;
  }
}
