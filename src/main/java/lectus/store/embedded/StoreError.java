package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import lectus.error.FoundationDbError;

/** The errors that the embedded store returns: FoundationDB's names, each with a sentence. */
enum StoreError {
  TRANSACTION_TOO_OLD("The transaction's read version is older than 5 seconds"),
  FUTURE_VERSION("The read version has not been reached yet"),
  TRANSACTION_CANCELLED("The transaction was cancelled"),
  TRANSACTION_TIMED_OUT("The transaction's time-out has passed"),
  TOO_MANY_WATCHES("Too many watches are set"),
  WATCHES_DISABLED("Watches need read-your-writes"),
  ACCESSED_UNREADABLE("A key written with a versionstamp cannot be read before its commit"),
  BROKEN_PROMISE("The transaction was reset before its versionstamp was known"),
  CLIENT_INVALID_OPERATION("The operation is not valid here"),
  KEY_OUTSIDE_LEGAL_RANGE("The key lies outside the legal range"),
  INVERTED_RANGE("The range's begin is after its end"),
  INVALID_OPTION_VALUE("The option does not take this value"),
  INVALID_OPTION("There is no such option"),
  READ_VERSION_ALREADY_SET("The transaction already has a read version"),
  VERSION_INVALID("A read version is a positive number"),
  RANGE_LIMITS_INVALID("A range's row limit cannot be negative"),
  USED_DURING_COMMIT("The transaction was used after its commit was called"),
  TRANSACTION_INVALID_VERSION("The transaction did not commit, so it has no versionstamp"),
  NO_COMMIT_VERSION("A read-only transaction has no versionstamp"),
  TRANSACTION_READ_ONLY("The transaction is read-only but has writes"),
  TRANSACTION_TOO_LARGE("The transaction exceeds its size limit"),
  KEY_TOO_LARGE("The key exceeds 10 000 bytes"),
  VALUE_TOO_LARGE("The value exceeds 100 000 bytes"),
  SPECIAL_KEYS_NO_MODULE_FOUND("The embedded store has no special keys"),
  SPECIAL_KEYS_WRITE_DISABLED("The embedded store has no special keys to write"),
  EXACT_MODE_WITHOUT_LIMITS("Streaming mode EXACT needs a row limit");

  private final FoundationDbError error = FoundationDbError.valueOf(name());
  private final String sentence;

  StoreError(String sentence) {
    this.sentence = sentence;
  }

  int code() {
    return error.code();
  }

  FDBException exception() {
    return new FDBException(sentence, code());
  }
}
