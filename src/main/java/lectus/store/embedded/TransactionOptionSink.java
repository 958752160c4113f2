package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.OptionConsumer;
import java.util.Optional;

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
}
