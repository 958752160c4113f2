package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** The FoundationDB errors an engine raises (FDB-CONTRACT, section 1). */
final class StoreErrors {
  /** Ours: FoundationDB has no code for a full disk. */
  private static final int NO_SPACE = 1599;

  private static final int FILE_NOT_READABLE = 1513;
  private static final int FILE_NOT_WRITABLE = 1514;
  private static final int FILE_CORRUPT = 1522;

  private StoreErrors() {}

  static FDBException transactionTooOld() {
    return new FDBException("Transaction is too old to perform reads or be committed", 1007);
  }

  static FDBException futureVersion() {
    return new FDBException("Request for future version", 1009);
  }

  static FDBException notCommitted() {
    return new FDBException(
        "Transaction not committed due to conflict with another transaction", 1020);
  }

  static FDBException commitUnknownResult() {
    return new FDBException("Transaction may or may not have committed", 1021);
  }

  /** Retryable; FoundationDB's proxies say this when too many commits wait. */
  static FDBException queueFull() {
    return new FDBException("Commit proxy server memory limit exceeded", 1042);
  }

  /** Nothing is stored, and nothing will be until there is space. */
  static FDBException noSpace(String sentence) {
    return new FDBException(sentence, NO_SPACE);
  }

  /** Retryable; the store is about to be there again. */
  static FDBException reopening() {
    return new FDBException("The store is being opened again", 1037);
  }

  /** What a read gets: 1522 if what it read is damaged. */
  static FDBException unreadable(RocksDBException failure) {
    Status status = failure.getStatus();
    boolean damaged = status != null && status.getCode() == Status.Code.Corruption;
    String sentence = "The store could not be read (" + failure.getMessage() + ").";
    return new FDBException(sentence, damaged ? FILE_CORRUPT : FILE_NOT_READABLE);
  }

  /** What a read gets of a store that cannot go on. */
  static FDBException unreadable(String sentence) {
    return new FDBException(sentence, FILE_NOT_READABLE);
  }

  /** A mistake of whoever uses a store that was closed. */
  static IllegalStateException closed() {
    return new IllegalStateException("the store is closed");
  }

  /** Nothing is stored where a commit gets it. */
  static FDBException notWritable(String sentence) {
    return new FDBException(sentence, FILE_NOT_WRITABLE);
  }

  /** The store was closed; also what a transaction of a closed database gets. */
  static FDBException cancelled() {
    return new FDBException("Operation aborted because the transaction was cancelled", 1025);
  }
}
