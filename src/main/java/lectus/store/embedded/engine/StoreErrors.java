package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;

/** The FoundationDB errors an engine raises (FDB-CONTRACT, section 1). */
final class StoreErrors {
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

  static FDBException ioError(String detail) {
    return new FDBException("Disk i/o operation failed: " + detail, 1510);
  }

  /** The store was closed; also what a transaction of a closed database gets. */
  static FDBException cancelled() {
    return new FDBException("Operation aborted because the transaction was cancelled", 1025);
  }
}
