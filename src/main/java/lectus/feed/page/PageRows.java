package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import lectus.changes.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.document.body.ReadAhead;
import lectus.feed.filter.PassingEntries;
import lectus.json.JsonBuffer;

/** Turns entries of one database into rows: those that the filter lets through. */
public final class PageRows {
  /** Rows without bodies whose further reads are started together. */
  private static final int ROWS_STARTED = 32;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final FeedOptions options;
  private final JsonBuffer out;
  private final RowFrame frame;
  private final int fullAt;

  /**
   * @param fullAt no further row is begun once {@code out} is so long
   */
  public PageRows(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedOptions options,
      JsonBuffer out,
      RowFrame frame,
      int fullAt) {
    this.tx = tx;
    this.db = db;
    this.options = options;
    this.out = out;
    this.frame = frame;
    this.fullAt = fullAt;
  }

  /**
   * @param lookedAt entries that were shown or filtered out
   */
  public record Progress(int rows, int lookedAt) {}

  /**
   * Appends rows until there are {@code limit}, the page is full, or all entries were looked at.
   */
  public Progress append(List<ChangeEntry> entries, long limit) {
    RowWriter writer = new RowWriter(tx, db, options, out);
    PassingEntries passing =
        PassingEntries.of(tx, db, options.filter(), options.allLeaves(), entries);
    ReadAhead bodies = new ReadAhead();
    Progress progress = new Progress(0, 0);
    while (progress.rows < limit && !isFull() && passing.hasNext()) {
      int before = out.length();
      int atOnce = options.includeDocs() ? bodies.size() : ROWS_STARTED;
      List<Begun> begun = begin(writer, passing, Math.min(atOnce, limit - progress.rows));
      for (Begun row : begun) {
        if (isFull()) {
          return progress;
        }
        append(writer, row.row, progress.rows, limit);
        progress = new Progress(progress.rows + 1, row.lookedAt);
      }
      bodies.took(begun.size(), out.length() - before);
    }
    return new Progress(progress.rows, passing.lookedAt());
  }

  /**
   * A row whose reads have begun.
   *
   * @param lookedAt entries up to and with its own
   */
  private record Begun(RowWriter.Started row, int lookedAt) {}

  private static List<Begun> begin(RowWriter writer, PassingEntries passing, long most) {
    List<Begun> begun = new ArrayList<>();
    while (begun.size() < most && passing.hasNext()) {
      PassingEntries.Passing next = passing.next();
      begun.add(new Begun(writer.start(next), passing.lookedAt()));
    }
    return begun;
  }

  private void append(RowWriter writer, RowWriter.Started row, int rows, long limit) {
    frame.before(rows);
    writer.append(row, (limit - rows) % options.sequenceInterval() == 0);
    frame.after(row.entry().sequence());
  }

  private boolean isFull() {
    return out.length() >= fullAt;
  }
}
