package lectus.store.embedded.engine.folder;

import com.apple.foundationdb.FDBException;
import lectus.error.FoundationDbError;
import lectus.error.StoreFailureException;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The FoundationDB errors that an engine throws (docs/foundationdb-contract.md, section 1). */
public final class EngineErrors {
  private static final Logger LOG = LoggerFactory.getLogger(EngineErrors.class);

  /** A failing disk fails many reads. */
  private static final RecentLines RECENT = new RecentLines(System::nanoTime);

  private EngineErrors() {}

  public static FDBException transactionTooOld() {
    return new FDBException(
        "Transaction is too old to perform reads or be committed",
        FoundationDbError.TRANSACTION_TOO_OLD.code());
  }

  public static FDBException futureVersion() {
    return new FDBException("Request for future version", FoundationDbError.FUTURE_VERSION.code());
  }

  public static FDBException notCommitted() {
    return new FDBException(
        "Transaction not committed due to conflict with another transaction",
        FoundationDbError.NOT_COMMITTED.code());
  }

  public static FDBException commitUnknownResult() {
    return new FDBException(
        "Transaction may or may not have committed",
        FoundationDbError.COMMIT_UNKNOWN_RESULT.code());
  }

  /** Retryable. FoundationDB's proxies return this when too many commits wait. */
  public static FDBException queueFull() {
    return new FDBException(
        "Commit proxy server memory limit exceeded",
        FoundationDbError.COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED.code());
  }

  /** Nothing is stored, and nothing will be until there is space. */
  static FDBException noSpace(String sentence) {
    return new StoreFailureException(sentence, FoundationDbError.NO_SPACE);
  }

  /** Retryable: the store is about to be available again. */
  public static FDBException reopening() {
    return new FDBException(
        "The store is being opened again", FoundationDbError.PROCESS_BEHIND.code());
  }

  /**
   * Returns a read's error: 1522 with RocksDB's message if the data is damaged, otherwise 1513.
   * Clients see 1513, so its sentence has no file names; the log has them.
   */
  public static FDBException unreadable(RocksDBException failure) {
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

  /** Returns the error of a read of a store that cannot continue. */
  public static FDBException unreadable(String sentence) {
    return new StoreFailureException(sentence, FoundationDbError.FILE_NOT_READABLE);
  }

  /** Returns the exception for a caller that uses a closed store. */
  public static IllegalStateException closed() {
    return new IllegalStateException("the store is closed");
  }

  /** A commit that fails with this is not stored. */
  static FDBException notWritable(String sentence) {
    return new StoreFailureException(sentence, FoundationDbError.FILE_NOT_WRITABLE);
  }

  /** The store was closed; also the error of a closed database's transactions. */
  public static FDBException cancelled() {
    return new FDBException(
        "Operation aborted because the transaction was cancelled",
        FoundationDbError.TRANSACTION_CANCELLED.code());
  }
}
