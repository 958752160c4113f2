package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import lectus.store.Awaiting;
import lectus.store.RowPage;
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

  /** Iterates over the rows of a range in order, a page of bounded size at a time. */
  final class RowCursor {
    private final Reading reading;
    private final byte[] end;
    private Optional<byte[]> begin;
    private List<KeyValue> page = List.of();
    private int position;

    RowCursor(Reading reading, Range range) {
      this.reading = reading;
      this.begin = Optional.of(range.begin);
      this.end = range.end;
    }

    boolean hasNext() {
      while (position == page.size() && begin.isPresent()) {
        byte[] from = begin.get();
        RowPage read = reading.read(tx -> RowPage.read(tx, from, end));
        page = read.rows();
        begin = read.next();
        position = 0;
      }
      return position < page.size();
    }

    KeyValue peek() {
      if (!hasNext()) {
        throw new IllegalStateException("No row is left");
      }
      return page.get(position);
    }

    KeyValue next() {
      KeyValue row = peek();
      position++;
      return row;
    }
  }
}
