package lectus.mango.query;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import lectus.attachment.Digests;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.derived.StoredIndex;
import lectus.derived.rows.FillingJobs;
import lectus.derived.rows.IndexEntriesSubspace;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.document.list.AllDocsSubspace;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.mango.query.IndexRequest.DesignNames;
import lectus.mango.selector.SortKey;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Answers queries, and what there is to know of them and of indexes. */
public record Queries(
    Catalogue catalogue, TransactionRunner transactions, FillingJobs jobs, QueryMetrics figures) {
  /** Returns the lists of indexes. */
  public IndexListJson indexes() {
    return new IndexListJson(catalogue, transactions, jobs);
  }

  /**
   * Returns the whole answer to a query. Its first part throws what is wrong with the query.
   *
   * @param partition that the path names
   */
  public PagedBody find(DatabaseRequest database, byte[] body, Optional<String> partition) {
    FindRequest request = FindRequest.parse(body, partition);
    return new FindBody(new DatabaseReads(catalogue, transactions, database), request, figures);
  }

  /** Returns how a query would be answered. */
  public JsonBuffer explain(DatabaseRequest database, byte[] body, Optional<String> partition) {
    FindRequest request = FindRequest.parse(body, partition);
    return transactions.read(
        tx -> {
          DatabaseHandle db = database.current(tx, catalogue);
          checkPartition(db, request);
          return new Explanation(tx, db, request, Planner.toExplain(db, request)).json();
        });
  }

  /** Returns what there is to know of a design document's indexes. */
  public JsonBuffer info(DatabaseRequest database, String name) {
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

  /** What CouchDB tells of the views of a design document, here of its indexes. */
  private record DesignInfo(ReadTransaction tx, DatabaseHandle db) {
    private static final int SIGNATURE_BYTES = 16;

    /**
     * @param design the design document's id
     * @throws LectusException {@code not_found}; {@code not_implemented} if it has other views
     */
    JsonBuffer json(String design) {
      List<StoredIndex> indexes = db.indexes().definedBy(design);
      if (indexes.isEmpty()) {
        throw new LectusException(withoutIndexes(design));
      }
      boolean isBuilding = indexes.stream().anyMatch(it -> !it.isReadable());
      JsonBuffer out = new JsonBuffer(512).ascii("{\"name\":").string(DesignNames.bare(design));
      out.ascii(",\"view_index\":{\"updates_pending\":");
      out.ascii("{\"minimum\":0,\"preferred\":0,\"total\":0},\"waiting_commit\":false,");
      out.ascii("\"waiting_clients\":0,\"updater_running\":").bool(isBuilding);
      out.ascii(",\"update_seq\":").string(sequence());
      appendSizes(indexes, out);
      out.ascii(",\"signature\":").string(signature(indexes));
      out.ascii(",\"purge_seq\":0,\"language\":\"query\",\"compact_running\":false,");
      out.ascii("\"collator_versions\":[").string(SortKey.collatorVersion());
      return out.ascii("]}}");
    }

    private LectusError withoutIndexes(String design) {
      return Awaiting.await(new AllDocsSubspace(db).get(tx, design)).isPresent()
          ? new LectusError.NotImplemented("Views with functions are not supported.")
          : new LectusError.NotFound("missing");
    }

    /** Indexes are never behind their database. */
    private String sequence() {
      Optional<Sequence> last = Awaiting.await(new UpdateSequence(db).read(tx));
      return last.map(Sequence::toString).orElse("0");
    }

    private void appendSizes(List<StoredIndex> indexes, JsonBuffer out) {
      long bytes = 0;
      for (StoredIndex index : indexes) {
        Range entries = new IndexEntriesSubspace(db, index).range();
        bytes += Awaiting.await(tx.getEstimatedRangeSizeBytes(entries.begin, entries.end));
      }
      out.ascii(",\"sizes\":{\"file\":").number(bytes);
      out.ascii(",\"external\":").number(bytes);
      out.ascii(",\"active\":").number(bytes).octet('}');
    }

    /** Equal definitions have equal signatures. */
    private static String signature(List<StoredIndex> indexes) {
      StringBuilder definitions = new StringBuilder();
      indexes.forEach(
          it ->
              definitions
                  .append(it.definition().name())
                  .append('\n')
                  .append(it.definition().json().toJson())
                  .append('\n'));
      byte[] text = definitions.toString().getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(Digests.sha256().digest(text), 0, SIGNATURE_BYTES);
    }
  }
}
