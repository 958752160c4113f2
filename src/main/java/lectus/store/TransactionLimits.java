package lectus.store;

import java.time.Duration;

/**
 * Limits on the attempts of a transaction.
 *
 * @param retries how often it may run again after the first run
 * @param time no further run begins after this; on a cluster, calls under way also end then. While
 *     a client waits, its {@link ReadTimeout} may shorten it
 */
public record TransactionLimits(int retries, Duration time) {
  public static final TransactionLimits DEFAULT =
      new TransactionLimits(1_000, Duration.ofSeconds(30));

  /** For what a server gives back when it stops: shorter than an orderly stop may take. */
  public static final TransactionLimits AT_THE_END =
      new TransactionLimits(5, Duration.ofSeconds(2));

  public TransactionLimits {
    if (retries < 0) {
      throw new IllegalArgumentException("Retries cannot be negative: " + retries);
    }
    if (time.isNegative() || time.isZero()) {
      throw new IllegalArgumentException("The time must be positive: " + time);
    }
  }
}
