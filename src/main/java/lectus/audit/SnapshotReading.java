package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import java.util.function.Function;

/** Reads at one version, for as long as a transaction lives. */
record SnapshotReading(ReadTransaction tx, long deadlineNanos) implements Reading {
  /** There is more to read than one transaction can. */
  static final class OverdueException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OverdueException() {
      super("one transaction does not suffice", null, false, false);
    }
  }

  /** Reads in a transaction that has not much to read. */
  static SnapshotReading of(ReadTransaction tx) {
    return new SnapshotReading(tx, System.nanoTime() + Long.MAX_VALUE / 2);
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
