package lectus.store;

import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * FoundationDB's error codes after which a transaction may be run again. {@code
 * FDBException.isRetryable()} knows them too, but asks the native library, which the embedded store
 * does without.
 */
public final class RetryableErrors {
  private static final int RETRY_AFTER_SECONDS = 1;

  private static final int NOT_COMMITTED = 1020;

  private static final int CANCELLED = 1025;
  private static final int TIMED_OUT = 1031;
  private static final int FILE_CORRUPT = 1522;

  /** From here on codes tell of mistakes that the client noticed before it sent anything. */
  private static final int CLIENT_ERRORS = 2000;

  private static final int AFTER_CLIENT_ERRORS = 3000;

  private RetryableErrors() {}

  /**
   * The transaction has certainly not been stored; {@code onError} makes it ready for another run.
   */
  public static boolean isRetryable(int code) {
    return switch (code) {
      case 1007, 1009, NOT_COMMITTED, 1037, 1038, 1042, 1051, 1078, 1213, 1223, 1235, 1242 -> true;
      default -> false;
    };
  }

  /** Another transaction wrote what this one had read. */
  public static boolean isConflict(int code) {
    return code == NOT_COMMITTED;
  }

  /**
   * What a commit answers when it cannot tell whether the transaction has been stored: an unknown
   * result, a cancelled or overdue call, a cluster whose version has changed.
   */
  public static boolean isUnknownResult(int code) {
    return switch (code) {
      case 1021, CANCELLED, TIMED_OUT, 1039 -> true;
      default -> false;
    };
  }

  /** What was asked for is at fault, or the rows that it met, not the store as a whole. */
  public static boolean isOfRequest(int code) {
    return code == FILE_CORRUPT || (code >= CLIENT_ERRORS && code < AFTER_CLIENT_ERRORS);
  }

  /** Neither {@code onError} nor anything else brings the transaction back. */
  static boolean isOver(int code) {
    return code == CANCELLED || code == TIMED_OUT;
  }

  /** A commit that answered so has left nothing, and will not. */
  static boolean isCertainlyNotStored(int code) {
    return isRetryable(code) || (code >= CLIENT_ERRORS && code < AFTER_CLIENT_ERRORS);
  }

  static LectusException unknownResult(String why) {
    return new LectusException(
        new LectusError.InDoubt(
            "The write may have been stored: the store did not say (" + why + ").",
            RETRY_AFTER_SECONDS));
  }
}
