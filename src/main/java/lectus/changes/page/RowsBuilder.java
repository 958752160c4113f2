package lectus.changes.page;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.database.DatabaseName;
import lectus.json.JsonBuffer;

/** Builds the rows of one page: each row is written to {@link #json}, then ended. */
public final class RowsBuilder<P extends ResumePoint<P>> {
  private final JsonBuffer json;
  private final List<P> points = new ArrayList<>();
  private final List<DatabaseName> databases = new ArrayList<>();
  private int[] ends = new int[16];

  /**
   * @param capacity initial size in bytes
   */
  public RowsBuilder(int capacity) {
    this.json = new JsonBuffer(capacity);
  }

  /** Returns the buffer for the next row, which follows the ended ones. */
  public JsonBuffer json() {
    return json;
  }

  public int size() {
    return points.size();
  }

  /** Ends a row of a source over one database. */
  public void endRow(P at) {
    if (ends.length == points.size()) {
      ends = Arrays.copyOf(ends, 2 * ends.length);
    }
    ends[points.size()] = json.length();
    points.add(at);
  }

  /**
   * Ends a row of a source over several databases. If nothing was written, the row says that the
   * database is gone.
   */
  public void endRow(P at, DatabaseName database) {
    endRow(at);
    databases.add(database);
  }

  /** Drops all rows, because their transaction is retried. */
  public void clear() {
    json.truncate(0);
    points.clear();
    databases.clear();
  }

  public Rows<P> build() {
    int[] starts = new int[points.size()];
    System.arraycopy(ends, 0, starts, Math.min(1, starts.length), Math.max(0, starts.length - 1));
    return new Rows<>(
        json.toBytes(),
        starts,
        Arrays.copyOf(ends, points.size()),
        List.copyOf(points),
        List.copyOf(databases));
  }
}
