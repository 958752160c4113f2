package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.OptionConsumer;

/**
 * Takes the options of a transaction: for one attempt, or for its whole life (the retry policy).
 */
final class TransactionOptionSink implements OptionConsumer {
  private final Attempt attempt;

  TransactionOptionSink(Attempt attempt) {
    this.attempt = attempt;
  }

  /**
   * @throws FDBException 2007 for an unknown option; a value that an option does not take is
   *     deferred
   */
  @Override
  public void setOption(int code, byte[] value) {
    if (!isKnown(code)) {
      throw StoreError.INVALID_OPTION.exception();
    }
    synchronized (attempt) {
      if (attempt.isDeferred()) {
        return;
      }
      try {
        apply(code, value);
      } catch (FDBException error) {
        attempt.defer(error);
      }
    }
    if (code == 500) {
      attempt.armTimeout();
    }
  }

  private void apply(int code, byte[] value) {
    switch (code) {
      case 500 -> attempt.policy.setTimeout(value);
      case 501 -> attempt.policy.setRetryLimit(value);
      case 502 -> attempt.policy.setMaxRetryDelay(value);
      case 503 -> attempt.options.setSizeLimit(value);
      case 30, 51, 200, 301, 302, 303, 600, 601, 700, 702, 1100 -> {
        OptionValue.none(value);
        switchOn(code, attempt.options);
      }
      default -> {
        // About the cluster or its client: nothing to tell the embedded store.
      }
    }
  }

  private void switchOn(int code, AttemptOptions options) {
    switch (code) {
      case 30 -> options.nextWriteWithoutConflict = true;
      case 51 -> disableReadYourWrites();
      case 200 -> options.urgent = true;
      case 301 -> options.accessSystemKeys();
      case 302 -> options.readSystemKeys();
      case 303 -> options.setRawAccess();
      case 600 -> options.snapshotReadYourWrites(1);
      case 601 -> options.snapshotReadYourWrites(-1);
      case 700 -> options.lockAware();
      case 702 -> options.readLockAware();
      default -> options.bypassUnreadable = true;
    }
  }

  private void disableReadYourWrites() {
    if (attempt.hasRead || !attempt.writes.isEmpty() || !attempt.writeConflicts.isEmpty()) {
      throw StoreError.CLIENT_INVALID_OPERATION.exception();
    }
    attempt.options.readYourWritesDisabled = true;
  }

  private static boolean isKnown(int code) {
    return switch (code) {
      case 10, 20, 21, 23, 30, 40, 50, 51, 52, 110, 120, 130 -> true;
      case 200, 201, 300, 301, 302, 303, 304 -> true;
      case 400, 401, 402, 403, 404, 405, 406 -> true;
      case 500, 501, 502, 503, 504, 505, 507, 508, 509, 510, 511 -> true;
      case 600, 601, 700, 701, 702, 710, 711, 712, 713, 714 -> true;
      case 800, 801, 900, 1000, 1100, 1101, 1102, 2000, 4000, 4001 -> true;
      default -> false;
    };
  }
}
