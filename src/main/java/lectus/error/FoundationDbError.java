package lectus.error;

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
  TRANSACTION_TOO_OLD(1007),
  FUTURE_VERSION(1009),
  /** A conflict. */
  NOT_COMMITTED(1020),
  COMMIT_UNKNOWN_RESULT(1021),
  TRANSACTION_CANCELLED(1025),
  TRANSACTION_TIMED_OUT(1031),
  TOO_MANY_WATCHES(1032),
  WATCHES_DISABLED(1034),
  ACCESSED_UNREADABLE(1036),
  PROCESS_BEHIND(1037),
  DATABASE_LOCKED(1038),
  CLUSTER_VERSION_CHANGED(1039),
  COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED(1042),
  BATCH_TRANSACTION_THROTTLED(1051),
  GRV_PROXY_MEMORY_LIMIT_EXCEEDED(1078),
  BLOB_GRANULE_REQUEST_FAILED(1079),
  BROKEN_PROMISE(1100),
  TAG_THROTTLED(1213),
  PROXY_TAG_THROTTLED(1223),
  TRANSACTION_THROTTLED_HOT_SHARD(1235),
  TRANSACTION_REJECTED_RANGE_LOCKED(1242),
  FILE_NOT_READABLE(1513),
  FILE_NOT_WRITABLE(1514),
  FILE_CORRUPT(1522),
  /** Not FoundationDB's: the embedded store's disk is short of space. */
  NO_SPACE(1599),
  CLIENT_INVALID_OPERATION(2000),
  KEY_OUTSIDE_LEGAL_RANGE(2004),
  INVERTED_RANGE(2005),
  INVALID_OPTION_VALUE(2006),
  INVALID_OPTION(2007),
  READ_VERSION_ALREADY_SET(2010),
  VERSION_INVALID(2011),
  RANGE_LIMITS_INVALID(2012),
  USED_DURING_COMMIT(2017),
  TRANSACTION_INVALID_VERSION(2020),
  NO_COMMIT_VERSION(2021),
  TRANSACTION_READ_ONLY(2023),
  TRANSACTION_TOO_LARGE(2101),
  KEY_TOO_LARGE(2102),
  VALUE_TOO_LARGE(2103),
  CONNECTION_STRING_INVALID(2104),
  SPECIAL_KEYS_NO_MODULE_FOUND(2113),
  SPECIAL_KEYS_WRITE_DISABLED(2114),
  API_VERSION_NOT_SUPPORTED(2203),
  EXACT_MODE_WITHOUT_LIMITS(2210);

  private static final Map<Integer, FoundationDbError> BY_CODE =
      Arrays.stream(values())
          .collect(Collectors.toUnmodifiableMap(FoundationDbError::code, Function.identity()));

  private final int code;

  FoundationDbError(int code) {
    this.code = code;
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
}
