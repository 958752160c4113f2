package lectus.store.embedded;

import com.apple.foundationdb.OptionConsumer;

/** The options of a database: defaults for its transactions and its limit of watches. */
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
   * @throws com.apple.foundationdb.FDBException 2007 for an unknown option, 2006 for an invalid
   *     value
   */
  @Override
  public synchronized void setOption(int code, byte[] value) {
    if (!DatabaseOption.isKnown(code)) {
      throw StoreError.INVALID_OPTION.exception();
    }
    DatabaseOption.of(code).ifPresent(option -> apply(option, value));
  }

  private void apply(DatabaseOption option, byte[] value) {
    switch (option) {
      case MAX_WATCHES -> maxWatches = (int) OptionValue.number(value, 0, MOST_WATCHES);
      case SNAPSHOT_RYW_ENABLE -> snapshotReadYourWrites = snapshotReadYourWrites + 1;
      case SNAPSHOT_RYW_DISABLE -> snapshotReadYourWrites = snapshotReadYourWrites - 1;
      case TRANSACTION_TIMEOUT -> timeoutMillis = OptionValue.number(value, 0, Integer.MAX_VALUE);
      case TRANSACTION_RETRY_LIMIT ->
          retryLimit = OptionValue.number(value, RetryPolicy.NO_RETRY_LIMIT, Integer.MAX_VALUE);
      case TRANSACTION_MAX_RETRY_DELAY ->
          maxRetryDelayMillis = OptionValue.number(value, 0, Integer.MAX_VALUE);
      case TRANSACTION_SIZE_LIMIT ->
          sizeLimitBytes =
              OptionValue.number(
                  value, TransactionSize.LEAST_LIMIT_BYTES, TransactionSize.LIMIT_BYTES);
      case TRANSACTION_BYPASS_UNREADABLE -> bypassUnreadable = true;
    }
  }
}
