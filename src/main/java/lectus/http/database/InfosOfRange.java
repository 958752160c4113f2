package lectus.http.database;

import java.util.ArrayDeque;
import java.util.Deque;
import lectus.database.AskedDatabase;
import lectus.database.DatabaseName;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.feed.database.DatabaseInfo;
import lectus.json.JsonBuffer;

/**
 * The rows of {@code _dbs_info} about the databases of a range. One that is deleted or hidden
 * meanwhile is left out.
 */
final class InfosOfRange implements PagedBody {
  /** Each row costs a handful of reads, so a page is small. */
  private static final int ROWS_PER_PAGE = 50;

  private final Deque<DatabaseName> names = new ArrayDeque<>();
  private final VisibleNames visible;
  private final DatabaseInfo info;
  private String separator = "[";

  InfosOfRange(VisibleNames visible, DatabaseInfo info) {
    this.visible = visible;
    this.info = info;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    if (names.isEmpty() && visible.hasNext()) {
      names.addAll(visible.next());
    }
    for (int rows = 0; rows < ROWS_PER_PAGE && !names.isEmpty(); rows++) {
      appendRow(visible.asked(names.remove()), out);
    }
    boolean more = !names.isEmpty() || visible.hasNext();
    if (!more) {
      out.ascii(separator.equals("[") ? "[]\n" : "]\n");
    }
    return more;
  }

  private void appendRow(AskedDatabase database, JsonBuffer out) {
    int start = out.length();
    try {
      out.ascii(separator).ascii("{\"key\":").string(database.name().text());
      info.append(database, out.ascii(",\"info\":"));
      out.octet('}');
      separator = ",";
    } catch (LectusException e) {
      DbsInfoResource.requireAbsence(e);
      out.truncate(start);
    }
  }
}
