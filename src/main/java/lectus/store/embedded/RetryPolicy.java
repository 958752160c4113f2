package lectus.store.embedded;

import java.util.function.DoubleSupplier;
import lectus.error.FoundationDbError;
import lectus.store.embedded.AttemptOptions.DatabaseSettings;

/**
 * The settings and state that outlive a transaction's attempts: time-out, retry limit and back-off
 * (docs/foundationdb-contract.md, section 9). The attempts use it one after the other, each under
 * its own monitor.
 */
final class RetryPolicy {
  static final long NO_RETRY_LIMIT = -1;
  static final long DEFAULT_MAX_DELAY_MILLIS = 1_000;

  private static final double FIRST_BACKOFF_MILLIS = 10;
  private static final double GROWTH = 2;
  private static final double VERSION_DELAY_MILLIS = 10;
  private static final double RESOURCE_MAX_DELAY_MILLIS = 30_000;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Returned instead of a delay if no further attempt follows. */
  private static final long FINAL = -1;

  private final long createdNanos;
  long timeoutMillis;
  long retryLimit;
  long maxDelayMillis;
  private long retries;
  private double backoffMillis = FIRST_BACKOFF_MILLIS;

  RetryPolicy(DatabaseSettings defaults, long createdNanos) {
    this.createdNanos = createdNanos;
    timeoutMillis = defaults.timeoutMillis;
    retryLimit = defaults.retryLimit;
    maxDelayMillis = defaults.maxRetryDelayMillis;
  }

  boolean hasTimeout() {
    return timeoutMillis > 0;
  }

  /** Returns the time until the transaction times out, counted from its creation. */
  long nanosLeft(long nowNanos) {
    return timeoutMillis * NANOS_PER_MILLI - (nowNanos - createdNanos);
  }

  /**
   * Returns the delay before the next attempt after an error.
   *
   * @param random evenly distributed over [0, 1)
   * @return nanoseconds, or -1 if the error is final
   */
  long delayNanos(int code, DoubleSupplier random) {
    boolean limitHit = retryLimit != NO_RETRY_LIMIT && retries >= retryLimit;
    retries++;
    if (limitHit) {
      return FINAL;
    }
    return FoundationDbError.of(code).map(error -> delayNanos(error, random)).orElse(FINAL);
  }

  private long delayNanos(FoundationDbError error, DoubleSupplier random) {
    return switch (error) {
      case TRANSACTION_TOO_OLD, FUTURE_VERSION ->
          nanos(Math.min(VERSION_DELAY_MILLIS, maxDelayMillis));
      case COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED,
          GRV_PROXY_MEMORY_LIMIT_EXCEEDED,
          TRANSACTION_THROTTLED_HOT_SHARD,
          TRANSACTION_REJECTED_RANGE_LOCKED ->
          grow(RESOURCE_MAX_DELAY_MILLIS, random);
      case NOT_COMMITTED,
          COMMIT_UNKNOWN_RESULT,
          PROCESS_BEHIND,
          DATABASE_LOCKED,
          BATCH_TRANSACTION_THROTTLED,
          BLOB_GRANULE_REQUEST_FAILED,
          TAG_THROTTLED,
          PROXY_TAG_THROTTLED ->
          grow(maxDelayMillis, random);
      default -> FINAL;
    };
  }

  private long grow(double maxMillis, DoubleSupplier random) {
    double backoff = Math.min(backoffMillis, maxMillis);
    backoffMillis = Math.min(backoff * GROWTH, maxMillis);
    return nanos(backoff * random.getAsDouble());
  }

  private static long nanos(double millis) {
    return (long) (millis * NANOS_PER_MILLI);
  }
}
