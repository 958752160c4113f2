package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import lectus.error.FoundationDbError;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The FoundationDB errors an engine raises (docs/foundationdb-contract.md, section 1). */
final class StoreErrors {
  private static final Logger LOG = LoggerFactory.getLogger(StoreErrors.class);

  /** A disk that fails fails many reads. */
  private static final RecentLines RECENT = new RecentLines(System::nanoTime);

  private StoreErrors() {}

  static FDBException transactionTooOld() {
    return new FDBException(
        "Transaction is too old to perform reads or be committed",
        FoundationDbError.TRANSACTION_TOO_OLD.code());
  }

  static FDBException futureVersion() {
    return new FDBException("Request for future version", FoundationDbError.FUTURE_VERSION.code());
  }

  static FDBException notCommitted() {
    return new FDBException(
        "Transaction not committed due to conflict with another transaction",
        FoundationDbError.NOT_COMMITTED.code());
  }

  static FDBException commitUnknownResult() {
    return new FDBException(
        "Transaction may or may not have committed",
        FoundationDbError.COMMIT_UNKNOWN_RESULT.code());
  }

  /** Retryable; FoundationDB's proxies say this when too many commits wait. */
  static FDBException queueFull() {
    return new FDBException(
        "Commit proxy server memory limit exceeded",
        FoundationDbError.COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED.code());
  }

  /** Nothing is stored, and nothing will be until there is space. */
  static FDBException noSpace(String sentence) {
    return new FDBException(sentence, FoundationDbError.NO_SPACE.code());
  }

  /** Retryable; the store is about to be there again. */
  static FDBException reopening() {
    return new FDBException(
        "The store is being opened again", FoundationDbError.PROCESS_BEHIND.code());
  }

  /**
   * What a read gets: 1522 if what it read is damaged, with what RocksDB says of it. Clients are
   * told of 1513, so that has no names of files; the log has them.
   */
  static FDBException unreadable(RocksDBException failure) {
    Status status = failure.getStatus();
    String sentence = "The store could not be read (" + failure.getMessage() + ")";
    if (status != null && status.getCode() == Status.Code.Corruption) {
      return new FDBException(sentence, FoundationDbError.FILE_CORRUPT.code());
    }
    if (RECENT.isNew(sentence)) {
      LOG.error("{}.", sentence);
    }
    return unreadable("The store could not be read; the log says why.");
  }

  /** What a read gets of a store that cannot go on. */
  static FDBException unreadable(String sentence) {
    return new FDBException(sentence, FoundationDbError.FILE_NOT_READABLE.code());
  }

  /** A mistake of whoever uses a store that was closed. */
  static IllegalStateException closed() {
    return new IllegalStateException("the store is closed");
  }

  /** Nothing is stored where a commit gets it. */
  static FDBException notWritable(String sentence) {
    return new FDBException(sentence, FoundationDbError.FILE_NOT_WRITABLE.code());
  }

  /** The store was closed; also what a transaction of a closed database gets. */
  static FDBException cancelled() {
    return new FDBException(
        "Operation aborted because the transaction was cancelled",
        FoundationDbError.TRANSACTION_CANCELLED.code());
  }
}
