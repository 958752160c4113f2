package lectus.store;

import com.apple.foundationdb.Transaction;

/** What a {@link TransactionRunner} does, again and again, until it is done or not worth it. */
interface Work<T> {
  /** One run up to its commit, which is on its way when this returns. */
  Run<T> run(Transaction tx);

  /** Whether another run may follow one that failed with this code. */
  boolean mayFollow(int code);

  /**
   * The last word if no run follows: throws the last failure unless it knows better.
   *
   * @param failure not wrapped
   */
  T end(RuntimeException failure);
}
