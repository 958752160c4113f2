package lectus.storedfeed;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.changes.log.ChangeEntry;
import lectus.changes.log.ChangesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.DatabaseSubspace;
import lectus.database.FeedsSubspace;
import lectus.database.Generation;
import lectus.database.ShardId;
import lectus.derived.FeedDefinition;
import lectus.derived.FeedLimits;
import lectus.derived.StoredFeed;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.jobs.FillingJobs;
import lectus.jobs.JobKind;
import lectus.jobs.JobProgress;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.Versionstamp;

/**
 * Defines, lists and deletes the stored feeds of databases. A new feed of a database with few
 * documents has them at once; any other is filled by a job.
 */
public final class FeedCatalogue {
  /** Number of documents that a new feed has at once. */
  static final int MAX_AT_ONCE = 200;

  /** The same for the size of all entries, in bytes. */
  private static final long MAX_BYTES_AT_ONCE = 500_000;

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

  private Optional<JobProgress> progress(ReadTransaction tx, DatabaseHandle db, StoredFeed feed) {
    return Awaiting.await(jobs.progress(tx, db, JobKind.FEED, feed.number()));
  }

  private static void checkSame(FeedDefinition known, FeedDefinition wanted) {
    if (!known.equals(wanted)) {
      throw new LectusException(
          new LectusError.NotNow(
              "There is another stored feed of this name. Delete it first: its readers are told."));
    }
  }

  private void add(Transaction tx, DatabaseHandle db, FeedDefinition definition) {
    List<StoredFeed> all = db.feeds().all();
    if (all.size() >= FeedLimits.MAX_FEEDS) {
      throw LectusException.badRequest(
          "too_many_feeds", "A database has at most " + FeedLimits.MAX_FEEDS + " stored feeds.");
    }
    FeedsSubspace feeds = new FeedsSubspace(db.prefix());
    long highest = all.stream().mapToLong(StoredFeed::number).max().orElse(0);
    long number = feeds.nextNumber(tx, highest);
    Versionstamp formerRemovedAt = Awaiting.await(feeds.removedAt(tx, definition.name()));
    StoredFeed feed = new StoredFeed(number, definition, false, formerRemovedAt);
    boolean isFilled = fill(tx, db, feed);
    feeds.put(tx, isFilled ? feed.readable() : feed);
    if (!isFilled) {
      jobs.begin(tx, db, JobKind.FEED, number);
    }
  }

  /** Whether the new feed has all documents. Concurrent writers conflict with it. */
  private static boolean fill(Transaction tx, DatabaseHandle db, StoredFeed feed) {
    List<ChangeEntry> documents = first(tx, db);
    if (documents.size() > MAX_AT_ONCE) {
      return false;
    }
    List<List<FeedChange>> rows = new ExpectedEntries(tx, db, List.of(feed)).of(documents);
    long bytes = rows.stream().flatMap(List::stream).mapToLong(FeedChange::bytes).sum();
    if (rows.size() < documents.size() || bytes > MAX_BYTES_AT_ONCE) {
      return false;
    }
    tx.addReadConflictRange(
        DatabaseSubspace.REVISIONS.range(db.prefix()).begin,
        DatabaseSubspace.REVISIONS.range(db.prefix()).end);
    rows.forEach(ofOne -> ofOne.forEach(row -> row.write(tx, 0)));
    return true;
  }

  /** Returns the documents' entries, of many documents too many. */
  private static List<ChangeEntry> first(Transaction tx, DatabaseHandle db) {
    ChangesSubspace changes = new ChangesSubspace(db);
    List<ChangeEntry> found = new ArrayList<>();
    for (Generation generation : db.topology().generations()) {
      for (ShardId shard : generation.shards()) {
        if (found.size() <= MAX_AT_ONCE) {
          found.addAll(
              Awaiting.await(
                  changes.read(
                      tx.snapshot(),
                      shard,
                      Optional.empty(),
                      Optional.empty(),
                      MAX_AT_ONCE + 1,
                      false)));
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
          remove(tx, db, db.feeds().named(feed).orElseThrow(FeedCatalogue::missing));
          catalogue.moveVersion(tx, db);
          catalogue.noteUpdate(tx, db);
          return db;
        });
  }

  /** No write can still bring an entry: all conflict with the change of the version key. */
  private void remove(Transaction tx, DatabaseHandle db, StoredFeed feed) {
    new FeedsSubspace(db.prefix()).clear(tx, feed);
    new FeedEntriesSubspace(db, feed).clear(tx);
    new FeedRemovalsSubspace(db, feed).clear(tx);
    new FeedStatesSubspace(db, feed).clear(tx);
    jobs.end(tx, db, JobKind.FEED, feed.number());
  }

  /** Returns all stored feeds of a database, as JSON. */
  public JsonBuffer list(DatabaseRequest database) {
    return transactions.read(
        tx -> {
          DatabaseHandle db = database.current(tx, catalogue);
          JsonBuffer out = new JsonBuffer(512).ascii("{\"feeds\":[");
          String separator = "";
          for (StoredFeed feed : db.feeds().all()) {
            append(tx, db, feed, out.ascii(separator));
            separator = ",";
          }
          return out.ascii("]}");
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
      progress(tx, db, feed).ifPresent(it -> appendProgress(it, out));
    }
    new RefusedDocuments(tx, db, feed).appendTo(out);
    out.octet('}');
  }

  private static void appendProgress(JobProgress progress, JsonBuffer out) {
    out.ascii(",\"documents\":").number(progress.documents());
    out.ascii(",\"total_documents\":").number(progress.job().documents());
    out.ascii(",\"progress\":").number(progress.percent());
  }

  private static LectusException missing() {
    return LectusException.notFound("There is no such stored feed.");
  }

  /** Names some of the documents that a stored feed could not take. */
  private static final class RefusedDocuments {
    private static final int MAX_NAMED = 20;

    private final ReadTransaction tx;
    private final FeedStatesSubspace states;

    RefusedDocuments(ReadTransaction tx, DatabaseHandle db, StoredFeed feed) {
      this.tx = tx;
      this.states = new FeedStatesSubspace(db, feed);
    }

    /** Appends a member of an object, if there are any. */
    void appendTo(JsonBuffer out) {
      List<FeedStatesSubspace.Refused> refused =
          Awaiting.await(tx.getRange(states.refused(), MAX_NAMED).asList()).stream()
              .map(states::decodeRefused)
              .toList();
      if (refused.isEmpty()) {
        return;
      }
      out.ascii(",\"refused\":");
      char separator = '[';
      for (FeedStatesSubspace.Refused each : refused) {
        out.octet(separator).ascii("{\"id\":").string(each.docId());
        out.ascii(",\"reason\":").string(each.reason()).octet('}');
        separator = ',';
      }
      out.octet(']');
    }
  }
}
