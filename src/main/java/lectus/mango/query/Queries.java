package lectus.mango.query;

import java.util.Optional;
import lectus.database.AskedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.jobs.FillingJobs;
import lectus.json.JsonBuffer;
import lectus.store.TransactionRunner;

/** Answers queries, and what there is to know of them and of indexes. */
public record Queries(
    Catalogue catalogue, TransactionRunner transactions, FillingJobs jobs, QueryFigures figures) {
  /** Returns the lists of indexes. */
  public IndexListJson indexes() {
    return new IndexListJson(catalogue, transactions, jobs);
  }

  /**
   * Returns the whole answer to a query. Its first part throws what is wrong with the query.
   *
   * @param partition that the path names
   */
  public PagedBody find(AskedDatabase database, byte[] body, Optional<String> partition) {
    FindRequest request = FindRequest.parse(body, partition);
    return new FindBody(new DatabaseReads(catalogue, transactions, database), request, figures);
  }

  /** Returns how a query would be answered. */
  public JsonBuffer explain(AskedDatabase database, byte[] body, Optional<String> partition) {
    FindRequest request = FindRequest.parse(body, partition);
    return transactions.read(
        tx -> {
          DatabaseHandle db = database.current(tx, catalogue);
          checkPartition(db, request);
          return new Explanation(tx, db, request, Planner.toExplain(db, request)).json();
        });
  }

  /** Returns what there is to know of a design document's indexes. */
  public JsonBuffer info(AskedDatabase database, String name) {
    return transactions.read(
        tx -> new DesignInfo(tx, database.current(tx, catalogue)).json(DesignNames.idOf(name)));
  }

  /**
   * @throws LectusException {@code bad_request}
   */
  static void checkPartition(DatabaseHandle db, FindRequest request) {
    if (request.partition().isPresent() && !db.configuration().partitioned()) {
      throw LectusException.badRequest("database is not partitioned");
    }
  }
}
