package lectus.http.api;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import lectus.changes.page.DatabaseInfo;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/**
 * The rows of {@code _dbs_info} about the databases of a range. One that is deleted or hidden
 * meanwhile is left out.
 */
final class InfosOfRange implements PagedBody {
  /** Each row costs a handful of reads, all of which are begun together, so a page is small. */
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
    if (names.isEmpty() && visible.rest.isPresent()) {
      names.addAll(visible.next());
    }
    List<DatabaseRequest> page = new ArrayList<>();
    while (page.size() < ROWS_PER_PAGE && !names.isEmpty()) {
      page.add(visible.asked(names.remove()));
    }
    List<Optional<JsonBuffer>> infos = info.read(page);
    for (int i = 0; i < page.size(); i++) {
      String name = page.get(i).name().text();
      infos.get(i).ifPresent(json -> appendRow(name, json, out));
    }
    boolean more = !names.isEmpty() || visible.rest.isPresent();
    if (!more) {
      out.ascii(separator.equals("[") ? "[]\n" : "]\n");
    }
    return more;
  }

  private void appendRow(String name, JsonBuffer json, JsonBuffer out) {
    out.ascii(separator).ascii("{\"key\":").string(name).ascii(",\"info\":");
    out.raw(json.array(), 0, json.length()).octet('}');
    separator = ",";
  }
}
