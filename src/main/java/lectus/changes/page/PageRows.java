package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import lectus.changes.filter.Departures;
import lectus.changes.filter.PassingEntries;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.RowParts;
import lectus.document.WrittenRows;
import lectus.json.JsonBuffer;

/**
 * Turns the entries of one database that pass the filter into rows.
 *
 * @param fullAt length of {@code out} at which no further row is begun
 */
public record PageRows(
    ReadTransaction tx,
    DatabaseHandle db,
    FeedOptions options,
    JsonBuffer out,
    RowFrame frame,
    int fullAt) {
  /**
   * Number of rows whose further reads are started together; each may hold the first 80 kB of a
   * body.
   */
  private static final int ROWS_STARTED = 64;

  /**
   * @param lookedAt number of entries shown or filtered out
   */
  public record Progress(int rows, int lookedAt) {}

  /** Appends rows until there are {@code limit}, the page is full, or all entries were examined. */
  public Progress append(List<ChangeEntry> entries, Departures departures, long limit) {
    return append(
        PassingEntries.of(tx, db, options.filter(), options.allLeaves(), entries, departures),
        limit);
  }

  /** The same, of entries whose passing is known. */
  Progress append(PassingEntries passing, long limit) {
    Rows rows = new Rows(passing, limit);
    try (RowParts<Row> parts = new RowParts<>(tx.getExecutor(), out, fullAt, this::write)) {
      parts.append(rows, rows);
    }
    return rows.progress();
  }

  /**
   * @param lookedAt number of entries up to and including its own
   * @param withSequence whether the feed's {@code seq_interval} shows its sequence
   */
  private record Row(PassingEntries.Passing passing, int lookedAt, boolean withSequence) {}

  /** The rows that pass, and how many of them the page has. */
  private final class Rows implements Iterator<Row>, RowParts.Frame<Row> {
    private final PassingEntries passing;
    private final long limit;
    private long taken;
    private boolean tookAll;
    private Progress progress = new Progress(0, 0);

    Rows(PassingEntries passing, long limit) {
      this.passing = passing;
      this.limit = limit;
    }

    @Override
    public boolean hasNext() {
      if (taken >= limit) {
        return false;
      }
      tookAll = !passing.hasNext();
      return !tookAll;
    }

    @Override
    public Row next() {
      PassingEntries.Passing next = passing.next();
      boolean withSequence = (limit - taken) % options.sequenceInterval() == 0;
      taken++;
      return new Row(next, passing.lookedAt(), withSequence);
    }

    @Override
    public void before(Row row) {
      frame.before(progress.rows);
    }

    @Override
    public void after(Row row) {
      frame.after(row.passing.entry().sequence());
      progress = new Progress(progress.rows + 1, row.lookedAt);
    }

    /**
     * Entries after the last row count as examined, too, if it is known that no further row passes.
     */
    Progress progress() {
      boolean isLast = tookAll && progress.rows == taken;
      return isLast ? new Progress(progress.rows, passing.lookedAt()) : progress;
    }
  }

  private void write(List<Row> rows, WrittenRows to) {
    RowWriter writer = new RowWriter(tx, db, options, to.json());
    for (int from = 0; from < rows.size(); from += ROWS_STARTED) {
      List<Row> together = rows.subList(from, Math.min(rows.size(), from + ROWS_STARTED));
      List<RowWriter.Started> started = new ArrayList<>(together.size());
      together.forEach(row -> started.add(writer.start(row.passing)));
      for (int i = 0; i < started.size(); i++) {
        writer.append(started.get(i), together.get(i).withSequence);
        to.endRow();
      }
    }
  }

  public interface RowFrame {

    /**
     * @param row 0 for the first of the page
     */
    void before(int row);

    void after(Sequence row);
  }
}
