package lectus.document.alldocs;

import java.util.List;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** Several answers in one: {@code {"results":[…,…]}}. */
final class CombinedLists implements PagedBody {
  private final DatabaseReads reads;
  private final List<ListBody> bodies;
  private int current;
  private boolean begun;
  private boolean withinBody;

  CombinedLists(DatabaseReads reads, List<ListBody> bodies) {
    this.reads = reads;
    this.bodies = bodies;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    if (!begun) {
      // The database has to exist even if there are no queries.
      reads.read((tx, db) -> db);
      out.ascii("{\"results\":[");
      begun = true;
    }
    if (current < bodies.size()) {
      if (!withinBody) {
        out.ascii(current == 0 ? "\r\n" : ",\r\n");
      }
      withinBody = bodies.get(current).appendNext(out);
      current += withinBody ? 0 : 1;
    }
    boolean more = current < bodies.size();
    if (!more) {
      out.ascii("\r\n]}\n");
    }
    return more;
  }
}
