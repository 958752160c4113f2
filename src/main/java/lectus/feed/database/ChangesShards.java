package lectus.feed.database;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Generation;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.feed.DatabaseEvents;
import lectus.feed.FeedText;
import lectus.feed.page.Since;
import lectus.json.JsonBuffer;
import lectus.store.Reads;
import lectus.store.TransactionRunner;

/** Shows and changes which shards take the changes of a database (RFC 018). */
public final class ChangesShards {
  private static final String BEGINNING = "0";

  private final Catalogue catalogue;
  private final TransactionRunner transactions;

  public ChangesShards(Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
  }

  /**
   * Appends as a JSON object, without a line feed, the generations of shards from the one in which
   * a reader behind {@code since} goes on, oldest first (RFC 018, Read Path).
   *
   * @throws LectusException {@code not_found}
   */
  public void append(DatabaseName name, Since since, JsonBuffer out) {
    int start = out.length();
    transactions.read(
        tx -> {
          out.truncate(start);
          append(tx, catalogue.current(tx, name), since, out);
          return null;
        });
  }

  private static void append(ReadTransaction tx, DatabaseHandle db, Since since, JsonBuffer out) {
    Optional<Sequence> last = Reads.await(new UpdateSequence(db).read(tx));
    List<Generation> generations = db.topology().from(position(since, last));
    out.ascii("{\"update_seq\":").string(text(last)).ascii(",\"generations\":");
    char separator = '[';
    for (Generation generation : generations) {
      append(generation, db.topology().after(generation), out.octet(separator));
      separator = ',';
    }
    out.ascii("]}");
  }

  private static Optional<Sequence> position(Since since, Optional<Sequence> last) {
    if (since instanceof Since.After after) {
      return Optional.of(after.sequence());
    }
    return since instanceof Since.Now ? last : Optional.empty();
  }

  private static void append(
      Generation generation, Optional<Generation> successor, JsonBuffer out) {
    out.ascii("{\"since\":").string(text(generation.since())).ascii(",\"until\":");
    if (successor.isPresent()) {
      out.string(text(successor.get().since()));
    } else {
      out.ascii("null");
    }
    out.ascii(",\"hash\":").string(generation.hash().text()).ascii(",\"shards\":");
    FeedText.appendShards(generation.shards(), out);
    out.octet('}');
  }

  private static String text(Optional<Sequence> sequence) {
    return sequence.map(Sequence::toString).orElse(BEGINNING);
  }

  /**
   * Lets new shards take the changes from now on, and tells who listens.
   *
   * @param shards how many, 1 to 1024
   * @return the generation that begins
   * @throws LectusException {@code not_found}, {@code bad_request}
   */
  public Generation reshard(DatabaseName name, int shards, DatabaseEvents events) {
    DatabaseHandle db = catalogue.reshard(name, shards);
    Generation generation = db.topology().current();
    events.publishUpdated(db.instance(), generation.since().orElseThrow());
    return generation;
  }
}
