package lectus.store;

import java.time.Duration;

/**
 * How long a transaction is tried.
 *
 * @param retries how often it may run again after the first time
 * @param time after this no further run begins; on a cluster calls under way end then, too; where
 *     somebody waits it is no more than their {@link Patience}
 */
public record TransactionLimits(int retries, Duration time) {
  public static final TransactionLimits DEFAULT =
      new TransactionLimits(1_000, Duration.ofSeconds(30));

  public TransactionLimits {
    if (retries < 0) {
      throw new IllegalArgumentException("Retries cannot be negative: " + retries);
    }
    if (time.isNegative() || time.isZero()) {
      throw new IllegalArgumentException("The time must be positive: " + time);
    }
  }
}
