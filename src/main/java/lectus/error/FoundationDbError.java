package lectus.error;

import com.apple.foundationdb.FDBException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The FoundationDB error codes that the layer meets or the embedded store returns, under
 * FoundationDB's names (docs/foundationdb-contract.md).
 */
public enum FoundationDbError {
  TRANSACTION_TOO_OLD(1007, "The transaction's read version is older than 5 seconds"),
  FUTURE_VERSION(1009, "The read version has not been reached yet"),
  /** A conflict. */
  NOT_COMMITTED(1020, "Another transaction wrote what this one read; it is not committed"),
  COMMIT_UNKNOWN_RESULT(1021, "The transaction may or may not have been committed"),
  TRANSACTION_CANCELLED(1025, "The transaction was cancelled"),
  TRANSACTION_TIMED_OUT(1031, "The transaction's time-out has passed"),
  TOO_MANY_WATCHES(1032, "Too many watches are set"),
  WATCHES_DISABLED(1034, "Watches need read-your-writes"),
  ACCESSED_UNREADABLE(1036, "A key written with a versionstamp cannot be read before its commit"),
  PROCESS_BEHIND(1037, "The store is being opened again"),
  DATABASE_LOCKED(1038),
  CLUSTER_VERSION_CHANGED(1039),
  COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED(1042, "Too many commits wait"),
  BATCH_TRANSACTION_THROTTLED(1051),
  GRV_PROXY_MEMORY_LIMIT_EXCEEDED(1078),
  BLOB_GRANULE_REQUEST_FAILED(1079),
  BROKEN_PROMISE(1100, "The transaction was reset before its versionstamp was known"),
  TAG_THROTTLED(1213),
  PROXY_TAG_THROTTLED(1223),
  TRANSACTION_THROTTLED_HOT_SHARD(1235),
  TRANSACTION_REJECTED_RANGE_LOCKED(1242),
  FILE_NOT_READABLE(1513),
  FILE_NOT_WRITABLE(1514),
  FILE_CORRUPT(1522),
  /** Not FoundationDB's: the embedded store's disk is short of space. */
  NO_SPACE(1599),
  CLIENT_INVALID_OPERATION(2000, "The operation is not valid here"),
  KEY_OUTSIDE_LEGAL_RANGE(2004, "The key lies outside the legal range"),
  INVERTED_RANGE(2005, "The range's begin is after its end"),
  INVALID_OPTION_VALUE(2006, "The option does not take this value"),
  INVALID_OPTION(2007, "There is no such option"),
  READ_VERSION_ALREADY_SET(2010, "The transaction already has a read version"),
  VERSION_INVALID(2011, "A read version is a positive number"),
  RANGE_LIMITS_INVALID(2012, "A range's row limit cannot be negative"),
  USED_DURING_COMMIT(2017, "The transaction was used after its commit was called"),
  TRANSACTION_INVALID_VERSION(2020, "The transaction did not commit, so it has no versionstamp"),
  NO_COMMIT_VERSION(2021, "A read-only transaction has no versionstamp"),
  TRANSACTION_READ_ONLY(2023, "The transaction is read-only but has writes"),
  TRANSACTION_TOO_LARGE(2101, "The transaction exceeds its size limit"),
  KEY_TOO_LARGE(2102, "The key exceeds 10 000 bytes"),
  VALUE_TOO_LARGE(2103, "The value exceeds 100 000 bytes"),
  CONNECTION_STRING_INVALID(2104),
  SPECIAL_KEYS_NO_MODULE_FOUND(2113, "The embedded store has no special keys"),
  SPECIAL_KEYS_WRITE_DISABLED(2114, "The embedded store has no special keys to write"),
  API_VERSION_NOT_SUPPORTED(2203),
  EXACT_MODE_WITHOUT_LIMITS(2210, "Streaming mode EXACT needs a row limit");

  private static final Map<Integer, FoundationDbError> BY_CODE =
      Arrays.stream(values())
          .collect(Collectors.toUnmodifiableMap(FoundationDbError::code, Function.identity()));

  /** The lowest code of a mistake that the client noticed before it sent anything. */
  private static final int CLIENT_ERRORS = 2000;

  private static final int AFTER_CLIENT_ERRORS = 3000;

  private final int code;
  private final String sentence;

  /** An error that only a cluster returns. */
  FoundationDbError(int code) {
    this(code, "");
  }

  FoundationDbError(int code, String sentence) {
    this.code = code;
    this.sentence = sentence;
  }

  public int code() {
    return code;
  }

  public boolean is(int otherCode) {
    return code == otherCode;
  }

  /** Returns the error of a code. Empty if the code is unknown here. */
  public static Optional<FoundationDbError> of(int code) {
    return Optional.ofNullable(BY_CODE.get(code));
  }

  /** Returns the embedded store's exception. */
  public FDBException exception() {
    return new FDBException(sentence, code);
  }

  /**
   * Returns the embedded store's exception with a sentence for clients. The message of any other
   * exception is for the log alone: nobody knows what it gives away.
   *
   * @param told names no file of the server
   */
  public FDBException exception(String told) {
    return new Told(told, code);
  }

  /** Returns the sentence for clients of a failure; empty if it has none. */
  public static Optional<String> told(FDBException failure) {
    return failure instanceof Told told ? Optional.of(told.sentence) : Optional.empty();
  }

  private static final class Told extends FDBException {
    private static final long serialVersionUID = 1L;

    private final String sentence;

    Told(String sentence, int code) {
      super(sentence, code);
      this.sentence = sentence;
    }
  }

  /**
   * Returns whether the transaction is certainly not stored and {@code onError} prepares it for
   * another run. {@code FDBException.isRetryable()} does the same, but calls the native library,
   * which the embedded store does without.
   */
  public static boolean isRetryable(int code) {
    FoundationDbError error = BY_CODE.get(code);
    return error != null
        && switch (error) {
          case TRANSACTION_TOO_OLD,
              FUTURE_VERSION,
              NOT_COMMITTED,
              PROCESS_BEHIND,
              DATABASE_LOCKED,
              COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED,
              BATCH_TRANSACTION_THROTTLED,
              GRV_PROXY_MEMORY_LIMIT_EXCEEDED,
              TAG_THROTTLED,
              PROXY_TAG_THROTTLED,
              TRANSACTION_THROTTLED_HOT_SHARD,
              TRANSACTION_REJECTED_RANGE_LOCKED ->
              true;
          default -> false;
        };
  }

  /**
   * Returns whether the commit may or may not have been stored: an unknown result, a cancelled or
   * overdue call, or a change of the cluster's version.
   */
  public static boolean isUnknownResult(int code) {
    return COMMIT_UNKNOWN_RESULT.is(code) || CLUSTER_VERSION_CHANGED.is(code) || isOver(code);
  }

  /** Returns whether the transaction is finished: not even {@code onError} revives it. */
  public static boolean isOver(int code) {
    return TRANSACTION_CANCELLED.is(code) || TRANSACTION_TIMED_OUT.is(code);
  }

  /** Returns whether a commit that failed with this code is not stored and never will be. */
  public static boolean isCertainlyNotStored(int code) {
    return isRetryable(code) || isOfClient(code);
  }

  /**
   * Returns whether the request is at fault or the rows it read are damaged. Other requests are not
   * affected.
   */
  public static boolean isOfRequest(int code) {
    return FILE_CORRUPT.is(code) || isOfClient(code);
  }

  private static boolean isOfClient(int code) {
    return code >= CLIENT_ERRORS && code < AFTER_CLIENT_ERRORS;
  }

  /** Returns whether a commit was refused because the disk is short of space. */
  public static boolean isNoSpace(Throwable failure) {
    return failure instanceof FDBException lost && NO_SPACE.is(lost.getCode());
  }
}
