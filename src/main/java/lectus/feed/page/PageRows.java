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
    int rows = 0;
    while (rows < limit && !isFull() && passing.hasNext()) {
      int before = out.length();
      int atOnce = options.includeDocs() ? bodies.size() : ROWS_STARTED;
      int more = append(writer, passing, Math.min(atOnce, limit - rows), rows, limit);
      bodies.took(more, out.length() - before);
      rows += more;
    }
    return new Progress(rows, passing.lookedAt());
  }

  /**
   * Appends the next rows, with all their reads started before the first.
   *
   * @param most how many at most
   * @param before how many were appended before
   * @return how many it were, at least one
   */
  private int append(RowWriter writer, PassingEntries passing, long most, int before, long limit) {
    List<PassingEntries.Passing> shown = new ArrayList<>();
    while (shown.size() < most && passing.hasNext()) {
      shown.add(passing.next());
    }
    int rows = before;
    for (RowWriter.Started row : writer.start(shown)) {
      frame.before(rows);
      writer.append(row, (limit - rows) % options.sequenceInterval() == 0);
      frame.after(row.entry().sequence());
      rows++;
    }
    return shown.size();
  }

  private boolean isFull() {
    return out.length() >= fullAt;
  }
}
