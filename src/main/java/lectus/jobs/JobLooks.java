package lectus.jobs;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * When a server's workers look at the list of jobs: at their own pace while definitions change, or
 * while one of them finds something to do, and otherwise only one of them now and then, in case
 * that another server has begun a job. Thread-safe.
 */
public final class JobLooks {
  private static final long SELDOM_NANOS = Duration.ofSeconds(5).toNanos();

  /** The transaction that begins a job may last so long after its definition is noticed. */
  private static final long EAGER_NANOS = Duration.ofSeconds(6).toNanos();

  private final LongSupplier definitions;
  private final LongSupplier nanoClock;
  private long seen;
  private long lookedNanos;
  private long eagerUntilNanos;

  /**
   * @param definitions changes whenever this server may begin a job, and needs no look at the store
   */
  public JobLooks(LongSupplier definitions) {
    this(definitions, System::nanoTime);
  }

  JobLooks(LongSupplier definitions, LongSupplier nanoClock) {
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
}
