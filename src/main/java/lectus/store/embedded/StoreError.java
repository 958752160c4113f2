package lectus.store.embedded;

import com.apple.foundationdb.FDBException;

/** FoundationDB's error codes, as far as the embedded store can answer them. */
enum StoreError {
  TRANSACTION_TOO_OLD(1007, "The transaction's read version is older than 5 seconds"),
  FUTURE_VERSION(1009, "The read version has not been reached yet"),
  TRANSACTION_CANCELLED(1025, "The transaction was cancelled"),
  TRANSACTION_TIMED_OUT(1031, "The transaction's time-out has passed"),
  TOO_MANY_WATCHES(1032, "Too many watches are set"),
  WATCHES_DISABLED(1034, "Watches need read-your-writes"),
  ACCESSED_UNREADABLE(1036, "A key written with a versionstamp cannot be read before its commit"),
  BROKEN_PROMISE(1100, "The transaction was reset before its versionstamp was known"),
  CLIENT_INVALID_OPERATION(2000, "The operation is not valid here"),
  KEY_OUTSIDE_LEGAL_RANGE(2004, "The key lies outside the legal range"),
  INVERTED_RANGE(2005, "The range's begin lies behind its end"),
  INVALID_OPTION_VALUE(2006, "The option does not take this value"),
  INVALID_OPTION(2007, "There is no such option"),
  READ_VERSION_ALREADY_SET(2010, "The transaction has a read version already"),
  VERSION_INVALID(2011, "A read version is a positive number"),
  RANGE_LIMITS_INVALID(2012, "A range's row limit cannot be negative"),
  USED_DURING_COMMIT(2017, "The transaction was used after its commit was called"),
  TRANSACTION_INVALID_VERSION(2020, "The transaction did not commit, so it has no versionstamp"),
  NO_COMMIT_VERSION(2021, "A read-only transaction has no versionstamp"),
  TRANSACTION_READ_ONLY(2023, "The transaction was opened for reading and has writes"),
  TRANSACTION_TOO_LARGE(2101, "The transaction exceeds its size limit"),
  KEY_TOO_LARGE(2102, "The key exceeds 10 000 bytes"),
  VALUE_TOO_LARGE(2103, "The value exceeds 100 000 bytes"),
  SPECIAL_KEYS_NO_MODULE_FOUND(2113, "The embedded store has no special keys"),
  SPECIAL_KEYS_WRITE_DISABLED(2114, "The embedded store has no special keys to write"),
  EXACT_MODE_WITHOUT_LIMITS(2210, "Streaming mode EXACT needs a row limit");

  private final int code;
  private final String sentence;

  StoreError(int code, String sentence) {
    this.code = code;
    this.sentence = sentence;
  }

  int code() {
    return code;
  }

  FDBException exception() {
    return new FDBException(sentence, code);
  }
}
