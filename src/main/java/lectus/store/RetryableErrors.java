package lectus.store;

import com.apple.foundationdb.FDBException;
import java.util.EnumSet;
import java.util.Set;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Classifies FoundationDB's error codes by whether the transaction may run again. {@code
 * FDBException.isRetryable()} does the same, but calls the native library, which the embedded store
 * does without.
 */
public final class RetryableErrors {
  private static final int RETRY_AFTER_SECONDS = 1;

  private static final Set<FoundationDbError> RETRYABLE =
      EnumSet.of(
          FoundationDbError.TRANSACTION_TOO_OLD,
          FoundationDbError.FUTURE_VERSION,
          FoundationDbError.NOT_COMMITTED,
          FoundationDbError.PROCESS_BEHIND,
          FoundationDbError.DATABASE_LOCKED,
          FoundationDbError.COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED,
          FoundationDbError.BATCH_TRANSACTION_THROTTLED,
          FoundationDbError.GRV_PROXY_MEMORY_LIMIT_EXCEEDED,
          FoundationDbError.TAG_THROTTLED,
          FoundationDbError.PROXY_TAG_THROTTLED,
          FoundationDbError.TRANSACTION_THROTTLED_HOT_SHARD,
          FoundationDbError.TRANSACTION_REJECTED_RANGE_LOCKED);

  private static final Set<FoundationDbError> OVER =
      EnumSet.of(FoundationDbError.TRANSACTION_CANCELLED, FoundationDbError.TRANSACTION_TIMED_OUT);

  private static final Set<FoundationDbError> UNKNOWN_RESULT =
      EnumSet.of(
          FoundationDbError.COMMIT_UNKNOWN_RESULT,
          FoundationDbError.TRANSACTION_CANCELLED,
          FoundationDbError.TRANSACTION_TIMED_OUT,
          FoundationDbError.CLUSTER_VERSION_CHANGED);

  /** The lowest code of a mistake that the client noticed before it sent anything. */
  private static final int CLIENT_ERRORS = 2000;

  private static final int AFTER_CLIENT_ERRORS = 3000;

  private RetryableErrors() {}

  /**
   * Returns whether the transaction is certainly not stored and {@code onError} prepares it for
   * another run.
   */
  public static boolean isRetryable(int code) {
    return isOneOf(RETRYABLE, code);
  }

  /** Returns whether another transaction wrote what this one had read. */
  public static boolean isConflict(int code) {
    return FoundationDbError.NOT_COMMITTED.is(code);
  }

  /** Returns whether a commit was refused because the disk is short of space. */
  public static boolean isNoSpace(Throwable failure) {
    return failure instanceof FDBException lost && FoundationDbError.NO_SPACE.is(lost.getCode());
  }

  /**
   * Returns whether the commit may or may not have been stored: an unknown result, a cancelled or
   * overdue call, or a change of the cluster's version.
   */
  public static boolean isUnknownResult(int code) {
    return isOneOf(UNKNOWN_RESULT, code);
  }

  /**
   * Returns whether the request is at fault or the rows it read are damaged. Other requests are not
   * affected.
   */
  public static boolean isOfRequest(int code) {
    return FoundationDbError.FILE_CORRUPT.is(code)
        || (code >= CLIENT_ERRORS && code < AFTER_CLIENT_ERRORS);
  }

  /** Returns whether the transaction is finished: not even {@code onError} revives it. */
  static boolean isOver(int code) {
    return isOneOf(OVER, code);
  }

  /** Returns whether a commit that failed with this code is not stored and never will be. */
  static boolean isCertainlyNotStored(int code) {
    return isRetryable(code) || (code >= CLIENT_ERRORS && code < AFTER_CLIENT_ERRORS);
  }

  private static boolean isOneOf(Set<FoundationDbError> errors, int code) {
    return FoundationDbError.of(code).filter(errors::contains).isPresent();
  }

  static LectusException unknownResult(String why) {
    return new LectusException(
        new LectusError.InDoubt(
            "The write may have been stored: the store did not say (" + why + ").",
            RETRY_AFTER_SECONDS));
  }
}
