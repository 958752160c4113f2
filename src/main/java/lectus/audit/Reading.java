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

  /** The lowest and the highest read version so far. */
  final class ReadVersions {
    private long lowest = Long.MAX_VALUE;
    private long highest = Long.MIN_VALUE;

    void include(long version) {
      lowest = Math.min(lowest, version);
      highest = Math.max(highest, version);
    }

    void include(ReadVersions other) {
      lowest = Math.min(lowest, other.lowest);
      highest = Math.max(highest, other.highest);
    }

    /** Returns for example {@code version 7} or {@code versions 7 to 9}. */
    @Override
    public String toString() {
      if (lowest > highest) {
        return "no version";
      }
      return lowest == highest ? "version " + lowest : "versions " + lowest + " to " + highest;
    }
  }
}
