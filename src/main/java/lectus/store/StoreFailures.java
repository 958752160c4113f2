package lectus.store;

import com.apple.foundationdb.FDBException;
import java.util.Optional;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;

/**
 * Maps failures to the {@link LectusError}s that clients see. It is the only place that does. No
 * client sees an exception's message, which is meant for the log.
 */
public final class StoreFailures {
  private static final int RETRY_AFTER_SECONDS = 1;
  private static final int RETRY_AFTER_TROUBLE_SECONDS = 5;

  private static final String SILENT = "The store does not answer.";

  /** The store does not answer calls in time. */
  public static final LectusError SILENCE = unavailable(SILENT);

  private static final LectusError SILENT_COMMIT =
      unknownResult(Integer.toString(FoundationDbError.TRANSACTION_TIMED_OUT.code())).error();

  /** All attempts of a write were used up, and no commit was answered. */
  static final LectusError GIVEN_UP =
      unavailable("The store did not answer in time; nothing was stored.");

  private StoreFailures() {}

  /**
   * Returns the client's error for a failure after which nothing is stored; empty if unexpected.
   */
  public static Optional<LectusError> foreseen(Throwable failure) {
    if (failure instanceof LectusException known) {
      return Optional.of(known.error());
    }
    return failure instanceof FDBException lost
        ? Optional.ofNullable(known(lost))
        : Optional.empty();
  }

  /**
   * Returns the client's error for an unexpected failure, which is logged elsewhere.
   *
   * @param otherwise the reason, unless stored data cannot be read, which has its own
   */
  public static LectusError unforeseen(Throwable failure, String otherwise) {
    return new LectusError.Internal(
        failure instanceof MalformedTupleException unreadable ? unreadable.sentence() : otherwise);
  }

  /** Returns null for an unexpected failure. */
  private static LectusError known(FDBException lost) {
    int code = lost.getCode();
    if (FoundationDbError.isRetryable(code)) {
      return unavailable("The store is too busy.");
    }
    FoundationDbError error = FoundationDbError.of(code).orElse(null);
    if (error == null) {
      return null;
    }
    return switch (error) {
      // Reads only: a commit that times out is in doubt, which is a different error.
      case TRANSACTION_TIMED_OUT -> SILENCE;
      case NO_SPACE -> new LectusError.InsufficientStorage(told(lost, "The disk is full."));
      case FILE_NOT_READABLE -> inTrouble(told(lost, "The store could not be read."));
      case FILE_NOT_WRITABLE -> inTrouble(told(lost, "The store could not be written."));
      default -> null;
    };
  }

  private static String told(FDBException lost, String otherwise) {
    return FoundationDbError.told(lost).orElse(otherwise);
  }

  private static LectusError inTrouble(String sentence) {
    return new LectusError.Unavailable(sentence, RETRY_AFTER_TROUBLE_SECONDS);
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

  static LectusException unknownResult(String why) {
    return new LectusException(
        new LectusError.InDoubt(
            "The write may have been stored: the store did not say (" + why + ").",
            RETRY_AFTER_SECONDS));
  }
}
