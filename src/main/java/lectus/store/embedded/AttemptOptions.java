package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.OptionConsumer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.error.FoundationDbError;

/**
 * The options that last for one attempt of a transaction; onError resets them. Those that last for
 * the transaction are its {@link RetryPolicy}'s.
 */
final class AttemptOptions {
  boolean nextWriteWithoutConflict;
  boolean readYourWritesDisabled;
  boolean bypassUnreadable;

  /** Whether a read fails instead of waiting for the disk. */
  boolean memoryOnly;

  /** Whether the transaction may commit while the disk is short of space. */
  boolean urgent;

  /** Whether every write added a conflict range. */
  boolean allWritesRecorded = true;

  boolean rawAccess;
  boolean readOnly;
  long sizeLimitBytes;
  byte[] readEnd = KeySpace.USER_END;
  byte[] writeEnd = KeySpace.USER_END;
  private boolean lockAware;

  /** Snapshot reads see the transaction's own writes while this is above zero. */
  private int snapshotReadYourWrites;

  AttemptOptions(DatabaseSettings defaults) {
    bypassUnreadable = defaults.bypassUnreadable;
    snapshotReadYourWrites = defaults.snapshotReadYourWrites;
    sizeLimitBytes = defaults.sizeLimitBytes;
  }

  boolean seesOwnWrites(boolean snapshot) {
    return !readYourWritesDisabled && !(snapshot && snapshotReadYourWrites <= 0);
  }

  /**
   * Sets an option of an attempt's transaction.
   *
   * @throws FDBException 2007 for an unknown option; the error for an invalid value is deferred
   */
  static void set(Attempt attempt, int code, byte[] value) {
    TransactionOption option = TransactionOption.of(code).orElse(null);
    if (option == null) {
      if (!TransactionOption.isKnown(code)) {
        throw FoundationDbError.INVALID_OPTION.exception();
      }
      return;
    }
    synchronized (attempt) {
      if (attempt.deferred != null) {
        return;
      }
      try {
        attempt.options.apply(option, value, attempt);
      } catch (FDBException error) {
        attempt.deferred = error;
      }
    }
    if (option == TransactionOption.TIMEOUT) {
      attempt.armTimeout();
    }
  }

  private void apply(TransactionOption option, byte[] value, Attempt attempt) {
    switch (option) {
      case TIMEOUT -> attempt.policy.timeoutMillis = number(value, 0, Integer.MAX_VALUE);
      case RETRY_LIMIT -> attempt.policy.retryLimit = retryLimit(value);
      case MAX_RETRY_DELAY -> attempt.policy.maxDelayMillis = number(value, 0, Integer.MAX_VALUE);
      case SIZE_LIMIT -> sizeLimitBytes = sizeLimit(value);
      default -> {
        if (value != null && value.length > 0) {
          throw FoundationDbError.INVALID_OPTION_VALUE.exception();
        }
        switchOn(option, attempt);
      }
    }
  }

  private void switchOn(TransactionOption option, Attempt attempt) {
    switch (option) {
      case NEXT_WRITE_NO_WRITE_CONFLICT_RANGE -> nextWriteWithoutConflict = true;
      case READ_YOUR_WRITES_DISABLE -> {
        if (attempt.hasRead || !attempt.writes.log.isEmpty() || !attempt.writeConflicts.isEmpty()) {
          throw FoundationDbError.CLIENT_INVALID_OPERATION.exception();
        }
        readYourWritesDisabled = true;
      }
      case PRIORITY_SYSTEM_IMMEDIATE -> urgent = true;
      case ACCESS_SYSTEM_KEYS -> {
        readEnd = KeySpace.SYSTEM_END;
        writeEnd = KeySpace.SYSTEM_END;
        rawAccess = true;
      }
      case READ_SYSTEM_KEYS -> {
        readEnd = KeySpace.SYSTEM_END;
        rawAccess = true;
      }
      case RAW_ACCESS -> rawAccess = true;
      case SNAPSHOT_RYW_ENABLE -> snapshotReadYourWrites++;
      case SNAPSHOT_RYW_DISABLE -> snapshotReadYourWrites--;
      case LOCK_AWARE -> {
        lockAware = true;
        readOnly = false;
      }
      // Lets a transaction read a locked database but not write to it.
      case READ_LOCK_AWARE -> readOnly |= !lockAware;
      case BYPASS_UNREADABLE -> bypassUnreadable = true;
      default -> throw FoundationDbError.INVALID_OPTION.exception();
    }
  }

  private static long retryLimit(byte[] value) {
    return number(value, RetryPolicy.NO_RETRY_LIMIT, Integer.MAX_VALUE);
  }

  private static long sizeLimit(byte[] value) {
    return number(value, AttemptWrites.MIN_LIMIT_BYTES, AttemptWrites.LIMIT_BYTES);
  }

  /**
   * Decodes a number of 8 bytes, little-endian.
   *
   * @throws FDBException 2006 if it is not a number or out of bounds
   */
  private static long number(byte[] value, long least, long most) {
    if (value == null || value.length != Long.BYTES) {
      throw FoundationDbError.INVALID_OPTION_VALUE.exception();
    }
    long number = 0;
    for (int i = Long.BYTES - 1; i >= 0; i--) {
      number = number << 8 | (value[i] & 0xFF);
    }
    if (number < least || number > most) {
      throw FoundationDbError.INVALID_OPTION_VALUE.exception();
    }
    return number;
  }

  /** FoundationDB's transaction options that affect the embedded store. */
  enum TransactionOption {
    NEXT_WRITE_NO_WRITE_CONFLICT_RANGE(30),
    READ_YOUR_WRITES_DISABLE(51),
    PRIORITY_SYSTEM_IMMEDIATE(200),
    ACCESS_SYSTEM_KEYS(301),
    READ_SYSTEM_KEYS(302),
    RAW_ACCESS(303),
    TIMEOUT(500),
    RETRY_LIMIT(501),
    MAX_RETRY_DELAY(502),
    SIZE_LIMIT(503),
    SNAPSHOT_RYW_ENABLE(600),
    SNAPSHOT_RYW_DISABLE(601),
    LOCK_AWARE(700),
    READ_LOCK_AWARE(702),
    BYPASS_UNREADABLE(1100);

    /** Indexed by code. Each write looks an option up, so a lookup neither boxes nor allocates. */
    private static final List<Optional<TransactionOption>> BY_CODE =
        IntStream.rangeClosed(0, BYPASS_UNREADABLE.code)
            .mapToObj(
                code -> Arrays.stream(values()).filter(option -> option.code == code).findFirst())
            .toList();

    private final int code;

    TransactionOption(int code) {
      this.code = code;
    }

    /**
     * Returns the option of a code. Empty if it is unknown or only concerns a cluster or its
     * client.
     */
    static Optional<TransactionOption> of(int code) {
      return code >= 0 && code < BY_CODE.size() ? BY_CODE.get(code) : Optional.empty();
    }

    /** Returns whether FoundationDB has an option with this code that the store does not refuse. */
    static boolean isKnown(int code) {
      return of(code).isPresent()
          || switch (code) {
            // Causal reads and writes, durability, priorities, logging, authorization.
            case 10, 20, 21, 23, 40, 50, 52, 110, 120, 130, 201, 300, 304 -> true;
            case 400, 401, 402, 403, 404, 405, 406, 504, 505, 507, 508, 509, 510, 511 -> true;
            // Locks, special keys, tags, spans, tenants. Nothing could read what 712,
            // REPORT_CONFLICTING_KEYS, reports, so it is refused.
            case 701, 710, 711, 713, 714, 800, 801, 900, 1000, 1101, 1102 -> true;
            case 2000, 4000, 4001 -> true;
            default -> false;
          };
    }
  }

  /** The options of a database: defaults for its transactions and its limit of watches. */
  static final class DatabaseSettings implements OptionConsumer {
    private static final int MAX_WATCHES = 1_000_000;
    private static final int DEFAULT_MAX_WATCHES = 10_000;

    volatile boolean bypassUnreadable;
    volatile int snapshotReadYourWrites = 1;
    volatile long sizeLimitBytes = AttemptWrites.LIMIT_BYTES;
    volatile long timeoutMillis;
    volatile long retryLimit = RetryPolicy.NO_RETRY_LIMIT;
    volatile long maxRetryDelayMillis = RetryPolicy.DEFAULT_MAX_DELAY_MILLIS;
    volatile int maxWatches = DEFAULT_MAX_WATCHES;

    /**
     * @throws FDBException 2007 for an unknown option, 2006 for an invalid value
     */
    @Override
    public synchronized void setOption(int code, byte[] value) {
      if (!DatabaseOption.isKnown(code)) {
        throw FoundationDbError.INVALID_OPTION.exception();
      }
      DatabaseOption.of(code).ifPresent(option -> apply(option, value));
    }

    private void apply(DatabaseOption option, byte[] value) {
      switch (option) {
        case MAX_WATCHES -> maxWatches = (int) number(value, 0, MAX_WATCHES);
        case SNAPSHOT_RYW_ENABLE -> snapshotReadYourWrites = snapshotReadYourWrites + 1;
        case SNAPSHOT_RYW_DISABLE -> snapshotReadYourWrites = snapshotReadYourWrites - 1;
        case TRANSACTION_TIMEOUT -> timeoutMillis = number(value, 0, Integer.MAX_VALUE);
        case TRANSACTION_RETRY_LIMIT -> retryLimit = retryLimit(value);
        case TRANSACTION_MAX_RETRY_DELAY ->
            maxRetryDelayMillis = number(value, 0, Integer.MAX_VALUE);
        case TRANSACTION_SIZE_LIMIT -> sizeLimitBytes = sizeLimit(value);
        case TRANSACTION_BYPASS_UNREADABLE -> bypassUnreadable = true;
      }
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

    /** Like {@link TransactionOption#of}. */
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

  /**
   * The settings and state that outlive a transaction's attempts: time-out, retry limit and
   * back-off (docs/foundationdb-contract.md, section 9). The attempts use it one after the other,
   * each under its own monitor.
   */
  static final class RetryPolicy {
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
}
