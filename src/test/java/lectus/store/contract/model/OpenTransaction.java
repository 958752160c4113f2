package lectus.store.contract.model;

import com.apple.foundationdb.Transaction;
import java.util.concurrent.CompletableFuture;

/** A transaction of the store and the same transaction of the model. */
final class OpenTransaction {
  /**
   * A store may give up a transaction after five seconds, and a slow machine may need that long.
   */
  private static final long MAY_BE_TOO_OLD_NANOS = 4_000_000_000L;

  private static final int TRANSACTION_TOO_OLD = 1007;

  final int number;
  final Transaction real;
  final ModelTransaction model;
  final CompletableFuture<byte[]> versionstamp;
  private final long versionNanos;

  /**
   * @param versionNanos when the read version was the newest
   */
  OpenTransaction(int number, Transaction real, ModelTransaction model, long versionNanos) {
    this.number = number;
    this.real = real;
    this.model = model;
    this.versionNanos = versionNanos;
    this.versionstamp = real.getVersionstamp();
  }

  long versionNanos() {
    return versionNanos;
  }

  boolean isOld() {
    return System.nanoTime() - versionNanos > MAY_BE_TOO_OLD_NANOS / 2;
  }

  /** Returns whether {@code code} may be due to a machine too slow for the test. */
  boolean isExcused(int code) {
    return code == TRANSACTION_TOO_OLD && System.nanoTime() - versionNanos > MAY_BE_TOO_OLD_NANOS;
  }
}
