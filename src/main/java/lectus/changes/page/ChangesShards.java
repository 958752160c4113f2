package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.database.ShardTopology.Era;
import lectus.database.ShardTopology.Generation;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Shows and changes which shards take the changes of a database (<a
 * href="https://github.com/apache/couchdb-documentation/blob/rfc/018-sharded-changes-feeds/rfcs/018-sharded-changes-feeds.md">RFC
 * 018</a>).
 */
public record ChangesShards(Catalogue catalogue, TransactionRunner transactions, Tasks tasks) {
  private static final String BEGINNING = "0";

  /**
   * Appends, as a JSON object without a line feed, the generations of shards from the one in which
   * a reader after {@code since} continues, oldest first (RFC 018, Read Path).
   *
   * @throws LectusException {@code not_found}; {@code bad_request}: the database has not reached
   *     {@code since}
   */
  public void append(DatabaseRequest asked, Since<FeedPosition> since, JsonBuffer out) {
    int start = out.length();
    transactions.read(
        tx -> {
          out.truncate(start);
          append(tx, asked.current(tx, catalogue), since, out);
          return null;
        });
  }

  private static void append(
      ReadTransaction tx, DatabaseHandle db, Since<FeedPosition> since, JsonBuffer out) {
    Optional<Sequence> last = Awaiting.await(new UpdateSequence(db).read(tx));
    List<Era> eras = db.topology().erasFrom(position(tx, db, since, last));
    out.ascii("{\"update_seq\":").string(text(last)).ascii(",\"generations\":");
    char separator = '[';
    for (int i = 0; i < eras.size(); i++) {
      Optional<Era> next = Optional.of(i + 1).filter(it -> it < eras.size()).map(eras::get);
      append(eras.get(i), next, out.octet(separator));
      separator = ',';
    }
    out.ascii("]}");
  }

  private static Optional<Sequence> position(
      ReadTransaction tx, DatabaseHandle db, Since<FeedPosition> since, Optional<Sequence> last) {
    Optional<FeedPosition> after = since.after().map(it -> it.inLife(db));
    after.ifPresent(it -> it.checkReached(tx, db));
    return after.map(FeedPosition::sequence).orElse(last);
  }

  private static void append(Era era, Optional<Era> next, JsonBuffer out) {
    out.ascii("{\"since\":").string(text(era.since())).ascii(",\"until\":");
    if (next.isPresent()) {
      out.string(text(next.get().since()));
    } else {
      out.ascii("null");
    }
    if (era instanceof Generation generation) {
      out.ascii(",\"hash\":").string(generation.hash().text()).ascii(",\"shards\":");
      FeedText.appendShards(generation.shards(), out);
    } else {
      // There is nothing left for a reader to miss.
      out.ascii(",\"hash\":null,\"shards\":[]");
    }
    out.octet('}');
  }

  private static String text(Optional<Sequence> sequence) {
    return sequence.map(Sequence::toString).orElse(BEGINNING);
  }

  /**
   * Makes new shards take the changes from now on, and notifies listeners.
   *
   * @param shards how many, 1 to 1024
   * @throws LectusException {@code not_found}, {@code bad_request}
   */
  public Generation reshard(DatabaseName name, int shards, DatabaseNotifications events) {
    try (RunningTask task = tasks.begin("resharding", name.text())) {
      DatabaseHandle db = catalogue.reshard(name, shards);
      Generation generation = db.topology().current();
      events.publishUpdated(
          db.instance(), name, generation.since().orElseThrow(), TouchedShards.ANY);
      return generation;
    }
  }
}
