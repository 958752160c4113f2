package lectus.store;

import com.apple.foundationdb.FDBException;
import java.util.Optional;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** What a client is told of the store's errors, where it is more than that something failed. */
public final class StoreFailures {
  private static final int RETRY_AFTER_TROUBLE_SECONDS = 5;

  private static final String SILENT = "The store does not answer.";

  /** The store answers no call in time. */
  public static final LectusError SILENCE = unavailable(SILENT);

  private static final LectusError SILENT_COMMIT =
      RetryableErrors.unknownResult(
              Integer.toString(FoundationDbError.TRANSACTION_TIMED_OUT.code()))
          .error();

  /** A write was tried as often as may be, and none of the commits was answered. */
  static final LectusError GIVEN_UP =
      unavailable("The store did not answer in time; nothing was stored.");

  private StoreFailures() {}

  /**
   * What a client may be told of an error after which nothing is stored; empty: it was not
   * foreseen.
   */
  public static Optional<LectusError> errorOf(FDBException lost) {
    int code = lost.getCode();
    if (RetryableErrors.isRetryable(code)) {
      return Optional.of(unavailable("The store is too busy."));
    }
    return FoundationDbError.of(code).map(error -> known(error, lost.getMessage()));
  }

  /** Null: it was not foreseen. */
  private static LectusError known(FoundationDbError error, String sentence) {
    return switch (error) {
      // Of a read. A commit that times out is in doubt, which is another error.
      case TRANSACTION_TIMED_OUT -> SILENCE;
      case NO_SPACE -> new LectusError.InsufficientStorage(sentence);
      case FILE_NOT_READABLE, FILE_NOT_WRITABLE ->
          new LectusError.Unavailable(sentence, RETRY_AFTER_TROUBLE_SECONDS);
      default -> null;
    };
  }

  /** Whether the store did not answer in time, be it a read or a commit. */
  public static boolean isSilence(Throwable failure) {
    if (failure instanceof FDBException silent) {
      return FoundationDbError.TRANSACTION_TIMED_OUT.is(silent.getCode());
    }
    return failure instanceof LectusException known
        && (known.error().equals(SILENCE)
            || known.error().equals(GIVEN_UP)
            || known.error().equals(SILENT_COMMIT));
  }

  private static LectusError unavailable(String sentence) {
    return new LectusError.Unavailable(sentence);
  }
}
