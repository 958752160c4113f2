package lectus.mango.query;

import com.apple.foundationdb.ReadTransaction;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.RefusedSubspace;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredIndex;
import lectus.derived.rows.FillingJobs;
import lectus.json.JsonBuffer;
import lectus.store.TransactionRunner;

/**
 * The list of a database's indexes. Members that CouchDB does not have: {@code building}, until all
 * documents are in an index, and {@code refused}, some of those that it cannot take.
 */
public final class IndexListJson {
  private static final Comparator<StoredIndex> BY_NAME =
      Comparator.comparing((StoredIndex it) -> it.definition().design())
          .thenComparing(it -> it.definition().name());

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final FillingJobs jobs;

  public IndexListJson(Catalogue catalogue, TransactionRunner transactions, FillingJobs jobs) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.jobs = jobs;
  }

  /** Returns the indexes in the order in which CouchDB lists them. */
  static List<StoredIndex> inOrder(DatabaseHandle db) {
    return db.indexes().all().stream().sorted(BY_NAME).toList();
  }

  /**
   * @param limit empty: all
   */
  public JsonBuffer of(DatabaseRequest database, long skip, Optional<Long> limit) {
    return transactions.read(tx -> list(tx, database.current(tx, catalogue), skip, limit));
  }

  private JsonBuffer list(ReadTransaction tx, DatabaseHandle db, long skip, Optional<Long> limit) {
    List<Optional<StoredIndex>> all = new ArrayList<>();
    all.add(Optional.empty());
    inOrder(db).forEach(index -> all.add(Optional.of(index)));
    JsonBuffer out = new JsonBuffer(1_024).ascii("{\"total_rows\":").number(all.size());
    return out.ascii(",\"indexes\":[")
        .each(
            all.stream().skip(skip).limit(limit.orElse(Long.MAX_VALUE)).toList(),
            index -> index.ifPresentOrElse(it -> append(tx, db, it, out), () -> appendAllDocs(out)))
        .ascii("]}");
  }

  /** Appends the list of all documents, which every database has. */
  static void appendAllDocs(JsonBuffer out) {
    out.ascii("{\"ddoc\":null,\"name\":\"_all_docs\",\"type\":\"special\",");
    out.ascii("\"def\":{\"fields\":[{\"_id\":\"asc\"}]}}");
  }

  private void append(ReadTransaction tx, DatabaseHandle db, StoredIndex index, JsonBuffer out) {
    appendOpen(index.definition(), out);
    if (!index.isReadable()) {
      out.ascii(",\"building\":{");
      jobs.progress(tx, db, index).ifPresent(it -> appendProgress(it, out));
      out.octet('}');
    }
    new RefusedSubspace(db, index).appendTo(tx, out);
    out.octet('}');
  }

  private static void appendProgress(FillingJobs.Progress progress, JsonBuffer out) {
    long now = Instant.now().getEpochSecond();
    out.ascii("\"documents\":").number(progress.documents());
    out.ascii(",\"total_documents\":").number(progress.job().documents());
    out.ascii(",\"progress\":").number(progress.percent());
    out.ascii(",\"entries\":").number(progress.rows());
    out.ascii(",\"shards_done\":").number(progress.tasksDone());
    out.ascii(",\"shards_underway\":").number(progress.tasksUnderway());
    out.ascii(",\"started_on\":").number(progress.job().startedSeconds());
    out.ascii(",\"documents_per_second\":").number(progress.documentsPerSecond(now));
  }

  /** Appends the index as CouchDB shows it; the object stays open. */
  static void appendOpen(IndexDefinition index, JsonBuffer out) {
    out.ascii("{\"ddoc\":").string(index.design());
    out.ascii(",\"name\":").string(index.name());
    out.ascii(",\"type\":\"json\",\"partitioned\":").bool(index.partitioned());
    out.ascii(",\"def\":");
    index.json().writeTo(out);
  }
}
