package lectus.derived.rows;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.DerivedSubspace;
import lectus.database.RefusedSubspace;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.derived.FeedDefinition;
import lectus.derived.StoredFeed;
import lectus.derived.StoredFeed.Removal;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;

/** Defines, lists and deletes the stored feeds of databases. */
public final class FeedCatalogue {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final FillingJobs jobs;

  public FeedCatalogue(Catalogue catalogue, TransactionRunner transactions, FillingJobs jobs) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.jobs = jobs;
  }

  /**
   * Defines a feed, unless it is there already.
   *
   * @return whether it is new
   * @throws LectusException {@code not_found}; {@code conflict} (409) if another feed has the name;
   *     {@code too_many_feeds} (400)
   */
  public boolean put(DatabaseName name, FeedDefinition definition) {
    return transactions.run(
        tx -> {
          DatabaseHandle db = catalogue.currentForWrites(tx, name);
          Optional<StoredFeed> known = db.feeds().named(definition.name());
          if (known.isPresent()) {
            checkSame(known.get().definition(), definition);
            return false;
          }
          add(tx, db, definition);
          catalogue.moveVersion(tx, db);
          return true;
        });
  }

  private static void checkSame(FeedDefinition known, FeedDefinition wanted) {
    if (!known.equals(wanted)) {
      throw new LectusException(
          new LectusError.NotNow(
              "There is another stored feed of this name. Delete it first: its readers are told."));
    }
  }

  private void add(Transaction tx, DatabaseHandle db, FeedDefinition definition) {
    if (db.feeds().all().size() >= FeedDefinition.MAX_FEEDS) {
      throw LectusException.badRequest(
          "too_many_feeds",
          "A database has at most " + FeedDefinition.MAX_FEEDS + " stored feeds.");
    }
    DerivedSubspace definitions = new DerivedSubspace(db.prefix());
    Removal former = Awaiting.await(definitions.removed(tx, definition.name()));
    long number = definitions.nextNumber(tx);
    StoredFeed feed = new StoredFeed(number, definition, false, former);
    jobs.define(tx, db, new FeedRows(tx, db, feed), first(tx, db));
  }

  /** Returns the documents' entries, of many documents too many. */
  private static List<ChangeEntry> first(Transaction tx, DatabaseHandle db) {
    ChangesSubspace changes = new ChangesSubspace(db);
    EntryRange some = EntryRange.after(Optional.empty(), FillingJobs.MAX_AT_ONCE + 1);
    List<ChangeEntry> found = new ArrayList<>();
    for (Generation generation : db.topology().generations()) {
      for (ShardId shard : generation.shards()) {
        if (found.size() <= FillingJobs.MAX_AT_ONCE) {
          found.addAll(Awaiting.await(changes.read(tx.snapshot(), shard, some)));
        }
      }
    }
    return found;
  }

  /**
   * Deletes a feed with all its entries.
   *
   * @return its database, and when that was
   * @throws LectusException {@code not_found}
   */
  public CommitResult<DatabaseHandle> delete(DatabaseName name, String feed) {
    return transactions.runVersioned(
        tx -> {
          DatabaseHandle db = catalogue.currentForWrites(tx, name);
          jobs.remove(tx, db, db.feeds().named(feed).orElseThrow(FeedCatalogue::missing));
          catalogue.moveVersion(tx, db);
          catalogue.noteUpdate(tx, db);
          return db;
        });
  }

  public JsonBuffer list(DatabaseRequest database) {
    return transactions.read(
        tx -> {
          DatabaseHandle db = database.current(tx, catalogue);
          JsonBuffer out = new JsonBuffer(512).ascii("{\"feeds\":[");
          return out.each(db.feeds().all(), feed -> append(tx, db, feed, out)).ascii("]}");
        });
  }

  /**
   * Returns one stored feed, as JSON.
   *
   * @throws LectusException {@code not_found}
   */
  public JsonBuffer one(DatabaseRequest database, String name) {
    return transactions.read(
        tx -> {
          DatabaseHandle db = database.current(tx, catalogue);
          JsonBuffer out = new JsonBuffer(512);
          append(tx, db, db.feeds().named(name).orElseThrow(FeedCatalogue::missing), out);
          return out;
        });
  }

  private void append(ReadTransaction tx, DatabaseHandle db, StoredFeed feed, JsonBuffer out) {
    out.ascii("{\"name\":").string(feed.definition().name());
    feed.definition()
        .json()
        .members()
        .forEach((member, value) -> value.writeTo(out.octet(',').string(member).octet(':')));
    out.ascii(",\"state\":").string(feed.isReadable() ? "ready" : "filling");
    if (!feed.isReadable()) {
      jobs.progress(tx, db, feed).ifPresent(it -> appendProgress(it, out));
    }
    new RefusedSubspace(db, feed).appendTo(tx, out);
    out.octet('}');
  }

  private static void appendProgress(FillingJobs.Progress progress, JsonBuffer out) {
    out.ascii(",\"documents\":").number(progress.documents());
    out.ascii(",\"total_documents\":").number(progress.job().documents());
    out.ascii(",\"progress\":").number(progress.percent());
  }

  private static LectusException missing() {
    return LectusException.notFound("There is no such stored feed.");
  }
}
