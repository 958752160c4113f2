package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.OptionConsumer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Sets options of a transaction, for one attempt or (in the retry policy) for all. */
final class TransactionOptionSink implements OptionConsumer {
  private final Attempt attempt;

  TransactionOptionSink(Attempt attempt) {
    this.attempt = attempt;
  }

  /**
   * @throws FDBException 2007 for an unknown option; the error for an invalid value is deferred
   */
  @Override
  public void setOption(int code, byte[] value) {
    if (!TransactionOption.isKnown(code)) {
      throw StoreError.INVALID_OPTION.exception();
    }
    Optional<TransactionOption> option = TransactionOption.of(code);
    synchronized (attempt) {
      if (attempt.isDeferred()) {
        return;
      }
      try {
        if (option.isPresent()) {
          apply(option.get(), value);
        }
      } catch (FDBException error) {
        attempt.defer(error);
      }
    }
    if (option.filter(TransactionOption.TIMEOUT::equals).isPresent()) {
      attempt.armTimeout();
    }
  }

  private void apply(TransactionOption option, byte[] value) {
    switch (option) {
      case TIMEOUT -> attempt.policy.setTimeout(value);
      case RETRY_LIMIT -> attempt.policy.setRetryLimit(value);
      case MAX_RETRY_DELAY -> attempt.policy.setMaxRetryDelay(value);
      case SIZE_LIMIT -> attempt.options.setSizeLimit(value);
      default -> {
        OptionValue.none(value);
        switchOn(option, attempt.options);
      }
    }
  }

  private void switchOn(TransactionOption option, AttemptOptions options) {
    switch (option) {
      case NEXT_WRITE_NO_WRITE_CONFLICT_RANGE -> options.nextWriteWithoutConflict = true;
      case READ_YOUR_WRITES_DISABLE -> disableReadYourWrites();
      case PRIORITY_SYSTEM_IMMEDIATE -> options.urgent = true;
      case ACCESS_SYSTEM_KEYS -> options.accessSystemKeys();
      case READ_SYSTEM_KEYS -> options.readSystemKeys();
      case RAW_ACCESS -> options.setRawAccess();
      case SNAPSHOT_RYW_ENABLE -> options.snapshotReadYourWrites(1);
      case SNAPSHOT_RYW_DISABLE -> options.snapshotReadYourWrites(-1);
      case LOCK_AWARE -> options.lockAware();
      case READ_LOCK_AWARE -> options.readLockAware();
      case BYPASS_UNREADABLE -> options.bypassUnreadable = true;
      default -> throw StoreError.INVALID_OPTION.exception();
    }
  }

  private void disableReadYourWrites() {
    if (attempt.hasRead || !attempt.writes.isEmpty() || !attempt.writeConflicts.isEmpty()) {
      throw StoreError.CLIENT_INVALID_OPERATION.exception();
    }
    attempt.options.readYourWritesDisabled = true;
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
        IntStream.rangeClosed(0, BYPASS_UNREADABLE.code).mapToObj(TransactionOption::find).toList();

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

    private static Optional<TransactionOption> find(int code) {
      return Arrays.stream(values()).filter(option -> option.code == code).findFirst();
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
}
