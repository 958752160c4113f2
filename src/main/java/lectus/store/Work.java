package lectus.store;

import com.apple.foundationdb.Transaction;
import java.util.Optional;

/**
 * Work that a {@link TransactionRunner} repeats until it succeeds or another run is not worthwhile.
 */
interface Work<T> {
  /** Runs once and starts the commit. */
  Run<T> run(Transaction tx);

  /** Returns whether another run may follow a failure with this code. */
  boolean mayFollow(int code);

  /**
   * Returns what is done instead when no run follows; empty: nothing.
   *
   * @param failure not wrapped
   */
  default Optional<Ending<T>> ending(RuntimeException failure) {
    return Optional.empty();
  }

  /**
   * Returns the failure that the caller is told when no run follows and nothing else is done.
   *
   * @param failure not wrapped
   */
  default RuntimeException told(RuntimeException failure) {
    return failure;
  }

  /** Work that follows other work, within limits of its own. */
  record Ending<T>(Work<T> work, TransactionLimits limits) {}
}
