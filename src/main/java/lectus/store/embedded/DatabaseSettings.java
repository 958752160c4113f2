package lectus.store.embedded;

import com.apple.foundationdb.OptionConsumer;

/** The options of a database: what its transactions start with, and how many watches it takes. */
final class DatabaseSettings implements OptionConsumer {
  private static final int MOST_WATCHES = 1_000_000;
  private static final int DEFAULT_MAX_WATCHES = 10_000;

  volatile boolean bypassUnreadable;
  volatile int snapshotReadYourWrites = 1;
  volatile long sizeLimitBytes = TransactionSize.LIMIT_BYTES;
  volatile long timeoutMillis;
  volatile long retryLimit = RetryPolicy.NO_RETRY_LIMIT;
  volatile long maxRetryDelayMillis = RetryPolicy.DEFAULT_MAX_DELAY_MILLIS;
  volatile int maxWatches = DEFAULT_MAX_WATCHES;

  /**
   * @throws com.apple.foundationdb.FDBException 2007 for an unknown option, 2006 for a value it
   *     does not take
   */
  @Override
  public synchronized void setOption(int code, byte[] value) {
    switch (code) {
      case 20 -> maxWatches = (int) OptionValue.number(value, 0, MOST_WATCHES);
      case 26 -> snapshotReadYourWrites = snapshotReadYourWrites + 1;
      case 27 -> snapshotReadYourWrites = snapshotReadYourWrites - 1;
      case 500 -> timeoutMillis = OptionValue.number(value, 0, Integer.MAX_VALUE);
      case 501 ->
          retryLimit = OptionValue.number(value, RetryPolicy.NO_RETRY_LIMIT, Integer.MAX_VALUE);
      case 502 -> maxRetryDelayMillis = OptionValue.number(value, 0, Integer.MAX_VALUE);
      case 503 ->
          sizeLimitBytes =
              OptionValue.number(
                  value, TransactionSize.LEAST_LIMIT_BYTES, TransactionSize.LIMIT_BYTES);
      case 700 -> bypassUnreadable = true;
      case 10, 21, 22, 405, 504, 505, 506, 701, 702, 800, 900 -> {
        // About the cluster or its client: nothing to tell the embedded store.
      }
      default -> throw StoreError.INVALID_OPTION.exception();
    }
  }
}
