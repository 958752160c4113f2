package lectus.store.contract;

/** FoundationDB's error codes, by the names in its documentation. */
final class ErrorCodes {
  static final int OK = 0;
  static final int TRANSACTION_TOO_OLD = 1007;
  static final int FUTURE_VERSION = 1009;
  static final int NOT_COMMITTED = 1020;
  static final int TRANSACTION_CANCELLED = 1025;
  static final int TRANSACTION_TIMED_OUT = 1031;
  static final int TOO_MANY_WATCHES = 1032;
  static final int WATCHES_DISABLED = 1034;
  static final int ACCESSED_UNREADABLE = 1036;
  static final int CLIENT_INVALID_OPERATION = 2000;
  static final int KEY_OUTSIDE_LEGAL_RANGE = 2004;
  static final int INVERTED_RANGE = 2005;
  static final int INVALID_OPTION_VALUE = 2006;
  static final int INVALID_OPTION = 2007;
  static final int READ_VERSION_ALREADY_SET = 2010;
  static final int VERSION_INVALID = 2011;
  static final int RANGE_LIMITS_INVALID = 2012;
  static final int USED_DURING_COMMIT = 2017;
  static final int TRANSACTION_INVALID_VERSION = 2020;
  static final int NO_COMMIT_VERSION = 2021;
  static final int TRANSACTION_READ_ONLY = 2023;
  static final int TRANSACTION_TOO_LARGE = 2101;
  static final int KEY_TOO_LARGE = 2102;
  static final int VALUE_TOO_LARGE = 2103;
  static final int SPECIAL_KEYS_NO_MODULE_FOUND = 2113;
  static final int SPECIAL_KEYS_WRITE_DISABLED = 2114;
  static final int EXACT_MODE_WITHOUT_LIMITS = 2210;

  private ErrorCodes() {}
}
