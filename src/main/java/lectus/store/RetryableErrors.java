package lectus.store;

/**
 * FoundationDB's error codes after which a transaction may be run again. {@code
 * FDBException.isRetryable()} knows them too, but asks the native library, which the embedded store
 * does without.
 */
public final class RetryableErrors {
  private RetryableErrors() {}

  /**
   * The transaction has certainly not been stored; {@code onError} makes it ready for another run.
   */
  public static boolean isRetryable(int code) {
    return switch (code) {
      case 1007, 1009, 1020, 1037, 1038, 1042, 1051, 1078, 1213, 1223, 1235, 1242 -> true;
      default -> false;
    };
  }

  /** What a commit answers when it cannot tell whether the transaction has been stored. */
  public static boolean isUnknownResult(int code) {
    return switch (code) {
      case 1021, 1031, 1039 -> true;
      default -> false;
    };
  }
}
