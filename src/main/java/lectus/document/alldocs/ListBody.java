package lectus.document.alldocs;

import com.apple.foundationdb.ReadTransaction;
import lectus.database.DatabaseHandle;
import lectus.document.DatabaseReads;
import lectus.document.PageLimits;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;

/** The answer to one query: head, rows, tail, with CouchDB's line ends. */
final class ListBody {
  private final DatabaseReads reads;
  private final AllDocsQuery query;
  private final PageLimits limits;
  private ListRows rows;
  private boolean begun;
  private boolean hasRows;

  ListBody(DatabaseReads reads, AllDocsQuery query, PageLimits limits) {
    this.reads = reads;
    this.query = query;
    this.limits = limits;
    this.rows = query.keys().isPresent() ? new KeyRows(query) : new RangeRows(query);
  }

  private record Part(ListRows rows, boolean hasRows) {}

  /**
   * Appends the next part, up to the closing brace of the answer.
   *
   * @return whether there is more
   */
  boolean appendNext(JsonBuffer out) {
    int start = out.length();
    Part part =
        reads.read(
            (tx, db) -> {
              out.truncate(start);
              return append(tx, db, out);
            });
    begun = true;
    rows = part.rows();
    hasRows = part.hasRows();
    if (rows.isFinished()) {
      out.ascii("\r\n]}");
    }
    return !rows.isFinished();
  }

  private Part append(ReadTransaction tx, DatabaseHandle db, JsonBuffer out) {
    if (!begun) {
      checkPartition(db);
      new ListHead(tx, db, query).append(out);
    }
    ListRowWriter writer = new ListRowWriter(out, limits, hasRows);
    ListRows rest = rows.isFinished() ? rows : rows.append(tx, db, writer);
    return new Part(rest, writer.hasRows());
  }

  private void checkPartition(DatabaseHandle db) {
    if (query.partition().isPresent() && !db.configuration().partitioned()) {
      throw LectusException.badRequest(
          "query_parse_error", "`partition` parameter is not supported on this db");
    }
  }
}
