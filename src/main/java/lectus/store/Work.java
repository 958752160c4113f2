package lectus.store;

import com.apple.foundationdb.Transaction;

/**
 * Work that a {@link TransactionRunner} repeats until it succeeds or another run is not worthwhile.
 */
interface Work<T> {
  /** Runs once and starts the commit. */
  Run<T> run(Transaction tx);

  /** Returns whether another run may follow a failure with this code. */
  boolean mayFollow(int code);

  /**
   * Ends the work when no run follows: throws the last failure unless it knows better.
   *
   * @param failure not wrapped
   */
  T end(RuntimeException failure);
}
