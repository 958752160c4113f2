package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.PurgesSubspace;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.Partition;
import lectus.database.Sequence;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.document.PagedBody;
import lectus.document.write.AutoPurge;
import lectus.document.write.PurgedInfos;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** The content of {@code GET /{db}}. */
public final class DatabaseInfo {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;

  public DatabaseInfo(Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
  }

  /**
   * Appends it as a JSON object, without a line feed.
   *
   * @throws LectusException {@code not_found}
   */
  public void append(DatabaseRequest asked, JsonBuffer out) {
    int start = out.length();
    transactions.read(
        tx -> {
          out.truncate(start);
          Reading.begin(tx, asked.current(tx, catalogue)).append(out);
          return null;
        });
  }

  /**
   * Returns it for each of many databases, which are read together.
   *
   * @return empty where a database is not there, or not to be shown
   */
  public List<Optional<JsonBuffer>> read(List<DatabaseRequest> asked) {
    return transactions.read(
        tx -> {
          List<Optional<DatabaseHandle>> current =
              catalogue.currentAll(tx, asked.stream().map(DatabaseRequest::name).toList());
          List<Optional<Reading>> reading = new ArrayList<>();
          for (int i = 0; i < asked.size(); i++) {
            DatabaseRequest database = asked.get(i);
            reading.add(
                current
                    .get(i)
                    .filter(db -> isShown(database, db))
                    .map(db -> Reading.begin(tx, db)));
          }
          return reading.stream().map(each -> each.map(Reading::json)).toList();
        });
  }

  private static boolean isShown(DatabaseRequest asked, DatabaseHandle db) {
    return LectusException.unlessMissing(
            () -> {
              asked.permit().judge(db);
              return db;
            })
        .isPresent();
  }

  public AutoPurge autoPurge() {
    return new AutoPurge(catalogue, transactions);
  }

  /** Returns the answer to {@code _purged_infos}. */
  public PagedBody purges(DatabaseRequest asked) {
    return new PurgedInfos(catalogue, transactions).answer(asked);
  }

  /**
   * Appends the content of {@code GET /{db}/_partition/{partition}}, without a line feed. A
   * partition without documents looks like one that never had any.
   *
   * @throws LectusException {@code not_found}; {@code bad_request} if the database is not
   *     partitioned
   */
  public void append(DatabaseRequest asked, Partition partition, JsonBuffer out) {
    DatabaseCounters statistics =
        transactions.read(
            tx -> {
              DatabaseHandle db = checkPartitioned(asked.current(tx, catalogue));
              return Awaiting.await(DatabaseCounters.ofPartition(tx, db, partition));
            });
    out.ascii("{\"db_name\":").string(asked.name().text());
    out.ascii(",\"sizes\":{\"active\":").number(statistics.activeBytes());
    out.ascii(",\"external\":").number(statistics.externalBytes());
    out.ascii("},\"partition\":").string(partition.name());
    out.ascii(",\"doc_count\":").number(statistics.documents());
    out.ascii(",\"doc_del_count\":").number(statistics.deletedDocuments()).octet('}');
  }

  /**
   * @throws LectusException {@code bad_request} if the database is not partitioned
   */
  public static DatabaseHandle checkPartitioned(DatabaseHandle db) {
    if (!db.configuration().partitioned()) {
      throw LectusException.badRequest("database is not partitioned");
    }
    return db;
  }

  /** The figures of one database that are being read. */
  record Reading(
      DatabaseHandle db,
      CompletableFuture<DatabaseCounters> counters,
      CompletableFuture<Optional<Sequence>> sequence,
      CompletableFuture<Optional<Sequence>> purged) {
    private static final int USUAL_BYTES = 512;

    static Reading begin(ReadTransaction tx, DatabaseHandle db) {
      return new Reading(
          db,
          DatabaseCounters.read(tx, db),
          new UpdateSequence(db).read(tx),
          new PurgesSubspace(db).last(tx));
    }

    JsonBuffer json() {
      JsonBuffer out = new JsonBuffer(USUAL_BYTES);
      append(out);
      return out;
    }

    void append(JsonBuffer out) {
      DatabaseCounters statistics = Awaiting.await(counters);
      out.ascii("{\"instance_start_time\":\"").number(db.createdAtSeconds());
      out.ascii("\",\"db_name\":").string(db.name().text());
      out.ascii(",\"purge_seq\":").string(text(purged));
      out.ascii(",\"update_seq\":").string(text(sequence));
      appendSizes(statistics, out);
      out.ascii(",\"props\":{")
          .ascii(db.configuration().partitioned() ? "\"partitioned\":true," : "")
          .ascii("\"layout\":")
          .string(db.configuration().layout().text());
      out.ascii("},\"doc_del_count\":").number(statistics.deletedDocuments());
      out.ascii(",\"doc_count\":").number(statistics.documents());
      out.ascii(",\"disk_format_version\":8,\"compact_running\":false,\"cluster\":{\"q\":");
      out.number(db.topology().current().shards().size()).ascii(",\"n\":1,\"w\":1,\"r\":1}}");
    }
  }

  private static String text(CompletableFuture<Optional<Sequence>> sequence) {
    return Awaiting.await(sequence).map(Sequence::toString).orElse("0");
  }

  /** What no leaf shows is not counted, so the file size equals the active size. */
  private static void appendSizes(DatabaseCounters statistics, JsonBuffer out) {
    out.ascii(",\"sizes\":{\"file\":").number(statistics.activeBytes());
    out.ascii(",\"external\":").number(statistics.externalBytes());
    out.ascii(",\"active\":").number(statistics.activeBytes()).octet('}');
  }
}
