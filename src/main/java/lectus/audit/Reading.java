package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import java.util.function.Function;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** How an audit reads. */
interface Reading {
  /** Runs the body; all its reads are at one version. */
  <T> T read(Function<? super ReadTransaction, ? extends T> body);

  /**
   * Returns whether all reads see the same state, so that any difference between them is an error.
   */
  boolean isOneVersion();

  /** Reads each time at a new version, so an audit may take as long as it needs. */
  record Paged(TransactionRunner transactions, ReadVersions versions) implements Reading {
    @Override
    public <T> T read(Function<? super ReadTransaction, ? extends T> body) {
      return transactions.read(
          tx -> {
            versions.include(Awaiting.await(tx.getReadVersion()));
            return body.apply(tx);
          });
    }

    @Override
    public boolean isOneVersion() {
      return false;
    }
  }

  /** Reads at one version, for as long as a transaction lives. */
  record Snapshot(ReadTransaction tx, long deadlineNanos) implements Reading {
    /** There is more to read than one transaction can. */
    static final class OverdueException extends RuntimeException {
      private static final long serialVersionUID = 1L;

      OverdueException() {
        super("one transaction does not suffice", null, false, false);
      }
    }

    /** Reads in a transaction that has not much to read. */
    static Snapshot of(ReadTransaction tx) {
      return new Snapshot(tx, System.nanoTime() + Long.MAX_VALUE / 2);
    }

    @Override
    public <T> T read(Function<? super ReadTransaction, ? extends T> body) {
      if (System.nanoTime() - deadlineNanos > 0) {
        throw new OverdueException();
      }
      return body.apply(tx);
    }

    @Override
    public boolean isOneVersion() {
      return true;
    }
  }
}
