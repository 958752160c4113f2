package lectus.store.embedded;

import com.apple.foundationdb.OptionConsumer;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The options of a database: defaults for its transactions and its limit of watches. */
final class DatabaseSettings implements OptionConsumer {
  private static final int MAX_WATCHES = 1_000_000;
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
      case MAX_WATCHES -> maxWatches = (int) OptionValue.number(value, 0, MAX_WATCHES);
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
                  value, TransactionSize.MIN_LIMIT_BYTES, TransactionSize.LIMIT_BYTES);
      case TRANSACTION_BYPASS_UNREADABLE -> bypassUnreadable = true;
    }
  }

  /** FoundationDB's database options that affect the embedded store. */
  enum DatabaseOption {
    MAX_WATCHES(20),
    SNAPSHOT_RYW_ENABLE(26),
    SNAPSHOT_RYW_DISABLE(27),
    TRANSACTION_TIMEOUT(500),
    TRANSACTION_RETRY_LIMIT(501),
    TRANSACTION_MAX_RETRY_DELAY(502),
    TRANSACTION_SIZE_LIMIT(503),
    TRANSACTION_BYPASS_UNREADABLE(700);

    private static final Map<Integer, DatabaseOption> BY_CODE =
        Arrays.stream(values())
            .collect(Collectors.toUnmodifiableMap(option -> option.code, Function.identity()));

    private final int code;

    DatabaseOption(int code) {
      this.code = code;
    }

    /**
     * Returns the option of a code. Empty if it is unknown or only concerns a cluster or its
     * client.
     */
    static Optional<DatabaseOption> of(int code) {
      return Optional.ofNullable(BY_CODE.get(code));
    }

    /** Returns whether FoundationDB has an option with this code. */
    static boolean isKnown(int code) {
      return BY_CODE.containsKey(code)
          || switch (code) {
            // Caches, locations, logging, causal reads, addresses, idempotency, configuration.
            case 10, 21, 22, 405, 504, 505, 506, 701, 702, 800, 900 -> true;
            default -> false;
          };
    }
  }
}
