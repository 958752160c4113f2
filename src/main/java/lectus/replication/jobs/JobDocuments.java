package lectus.replication.jobs;

import com.apple.foundationdb.ReadTransaction;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import lectus.account.Accounts;
import lectus.account.Accounts.NamedAccount;
import lectus.account.ReplicatorDocuments;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.PurgesSubspace;
import lectus.changes.log.UpdateSequence;
import lectus.changes.page.EntryReader;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.UserContext;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentId;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.read.LeafDocuments;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.ShownReplication;
import lectus.replication.jobs.ReplicationJob.JobKey;
import lectus.replication.jobs.ReplicationJobs.JobParts;
import lectus.store.Awaiting;
import lectus.store.Fence;
import lectus.store.TransactionRunner;

/**
 * The documents that describe replications: read in the order of their changes, and told what
 * became of them.
 */
final class JobDocuments {
  private static final int CHANGES_AT_ONCE = 50;

  /** A document may have a megabyte, and take ten times that once it is parsed. */
  private static final int BYTES_AT_ONCE = 256 << 10;

  private static final int MAX_PURGES = 1_000;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DocumentReader reader;
  private final DocumentParser parser;
  private final Writes writes;
  private final Accounts accounts;

  JobDocuments(JobParts parts) {
    this.catalogue = parts.catalogue();
    this.transactions = parts.transactions();
    this.reader = parts.reader();
    this.parser = parts.parser();
    this.writes = parts.writes();
    this.accounts = parts.accounts();
  }

  /**
   * How far the changes of a database were read.
   *
   * @param after empty: from the beginning
   */
  record Position(InstanceId life, Optional<Sequence> after) {}

  /**
   * Some changes.
   *
   * @param isOther whether what was known of the database is of another life of its name
   * @param documents by their ids; empty: the document is gone
   * @param next empty: there is no such database
   */
  record Changes(
      boolean isOther,
      Map<String, Optional<JobDocument>> documents,
      Optional<Position> next,
      boolean hasMore) {}

  Changes changes(DatabaseName name, Optional<Position> from) {
    return transactions.read(tx -> changes(tx, name, from));
  }

  private Changes changes(ReadTransaction tx, DatabaseName name, Optional<Position> from) {
    Optional<DatabaseHandle> found = catalogue.currentAll(tx, List.of(name)).get(0);
    if (found.isEmpty()) {
      return new Changes(true, Map.of(), Optional.empty(), false);
    }
    DatabaseHandle db = found.get();
    boolean isOther = from.filter(it -> it.life().equals(db.instance())).isEmpty();
    Optional<Sequence> after = isOther ? Optional.empty() : from.flatMap(Position::after);
    List<ChangeEntry> entries = new EntryReader(tx, db).oldest(after, CHANGES_AT_ONCE);
    Map<String, Optional<JobDocument>> documents = new LinkedHashMap<>();
    if (!isOther) {
      // What was purged has no entry. Older purges may be forgotten already.
      int most = (int) Math.min(MAX_PURGES, db.configuration().purgedInfosLimit());
      Awaiting.await(new PurgesSubspace(db).after(tx, after, most))
          .forEach(purge -> documents.put(purge.docId(), Optional.empty()));
    }
    int taken = read(tx, db, entries, documents);
    boolean hasMore = taken == CHANGES_AT_ONCE || taken < entries.size();
    Optional<Sequence> end =
        hasMore
            ? Optional.of(entries.get(taken - 1).sequence())
            : Awaiting.await(new UpdateSequence(db).read(tx));
    return new Changes(isOther, documents, Optional.of(new Position(db.instance(), end)), hasMore);
  }

  /** Returns how many of the changes were taken: not all, if the documents are large. */
  private static int read(
      ReadTransaction tx,
      DatabaseHandle db,
      List<ChangeEntry> entries,
      Map<String, Optional<JobDocument>> documents) {
    LeafDocuments leaves = new LeafDocuments(tx, db, List.of(), AttachmentsShown.STUBS);
    int taken = 0;
    int bytes = 0;
    while (taken < entries.size() && bytes < BYTES_AT_ONCE) {
      ChangeEntry entry = entries.get(taken++);
      if (entry.deleted()) {
        documents.put(entry.docId(), Optional.empty());
      } else if (!DocumentId.isDesign(entry.docId())) {
        JsonBuffer out = new JsonBuffer(512);
        leaves.append(leaves.start(entry.docId(), false, entry.winner()), List.of(), out);
        bytes += out.length();
        documents.put(entry.docId(), Optional.of(parsed(out)));
      }
    }
    return taken;
  }

  private static JobDocument parsed(JsonBuffer json) {
    return new JobDocument((JsonObject) JsonValue.parse(json.toBytes()));
  }

  Optional<JobDocument> read(JobKey key) {
    JsonBuffer out = new JsonBuffer(512);
    return LectusException.unlessMissing(
        () -> {
          DatabaseRequest database = DatabaseRequest.byServer(key.database());
          reader.read(database, key.document(), DocumentQuery.DEFAULT, out);
          return parsed(out);
        });
  }

  /**
   * Returns as whom a replication uses databases of this store: whom its document names, or else
   * its owner, with the rights that the owner has now. Waits for the store.
   */
  UserContext user(JobDocument described) {
    JsonObject document = described.members();
    Optional<String> owner = ReplicatorDocuments.ownerOf(document);
    return ReplicatorDocuments.userOf(document)
        .or(() -> owner.flatMap(accounts::current).map(NamedAccount::user))
        .or(() -> owner.map(name -> UserContext.named(name, Set.of())))
        .orElseGet(accounts::nobody);
  }

  /**
   * What is to be written into a document, if it still describes the same.
   *
   * @param fence without which nothing is written
   * @param members by their names; empty: none of this name
   */
  record Note(JobKey key, String digest, Fence fence, Map<String, Optional<JsonValue>> members) {

    static Note completed(ReplicationJob job, Instant now) {
      JsonBuffer out = new JsonBuffer(512);
      out.octet('{').raw(job.figures()).ascii(",\"start_time\":");
      out.string(ShownReplication.text(job.began())).octet('}');
      return of(job, "completed", now)
          .with(JobDocument.REASON, Optional.empty())
          .with(JobDocument.STATISTICS, Optional.of(JsonValue.parse(out.toBytes())));
    }

    /** A replication is of no use as it is described. */
    static Note failed(JobKey key, String digest, Fence fence, String reason, Instant now) {
      return new Note(key, digest, fence, new LinkedHashMap<>())
          .state("failed", now)
          .with(JobDocument.REASON, Optional.of(new JsonString(reason)))
          .with(JobDocument.STATISTICS, Optional.empty());
    }

    /** A replication has begun. */
    static Note triggered(ReplicationJob job, Instant now) {
      return of(job, "triggered", now)
          .with(JobDocument.REASON, Optional.empty())
          .with(JobDocument.STATISTICS, Optional.empty())
          .with(JobDocument.ID, Optional.of(idOf(job)));
    }

    /** A replication has failed, and is tried again. */
    static Note crashed(ReplicationJob job, String reason, Instant now) {
      return of(job, "error", now)
          .with(JobDocument.REASON, Optional.of(new JsonString(reason)))
          .with(JobDocument.STATISTICS, Optional.empty())
          .with(JobDocument.ID, Optional.of(idOf(job)));
    }

    private static JsonValue idOf(ReplicationJob job) {
      return job.id().<JsonValue>map(JsonString::new).orElseGet(JsonNull::new);
    }

    private static Note of(ReplicationJob job, String state, Instant now) {
      return new Note(job.key(), job.description().digest(), job.fence(), new LinkedHashMap<>())
          .state(state, now);
    }

    private Note state(String state, Instant now) {
      return with(JobDocument.STATE, Optional.of(new JsonString(state)))
          .with(JobDocument.STATE_TIME, Optional.of(new JsonString(ShownReplication.text(now))));
    }

    private Note with(String name, Optional<JsonValue> value) {
      members.put(name, value);
      return this;
    }

    /** Returns the document with the note in it. The time of a state that is there stays. */
    JsonObject in(JsonObject document) {
      Map<String, JsonValue> noted = new LinkedHashMap<>(document.members());
      boolean isSameState = document.get(JobDocument.STATE).equals(members.get(JobDocument.STATE));
      members.forEach(
          (name, value) -> {
            if (!(isSameState && name.equals(JobDocument.STATE_TIME))) {
              value.ifPresentOrElse(it -> noted.put(name, it), () -> noted.remove(name));
            }
          });
      return new JsonObject(noted);
    }
  }

  /**
   * Begins to write a note.
   *
   * @param done gets whether there is nothing left to do
   */
  void write(Note note, Consumer<Boolean> done) {
    Optional<JobDocument> document = read(note.key());
    if (document.isEmpty()
        || document.get().isOver()
        || !document.get().digest().equals(note.digest())) {
      done.accept(true);
      return;
    }
    JsonObject noted = note.in(document.get().members());
    if (noted.equals(document.get().members())) {
      done.accept(true);
      return;
    }
    byte[] json = noted.toBytes();
    Edit edit =
        parser
            .interactive(note.key().document(), NamedRevisions.NONE, json)
            .by(UserContext.SERVER)
            .within(Optional.of(note.fence()));
    writes.write(note.key().database(), edit, 2L * json.length, new Written(done));
  }

  /** Whoever has lost the fence has nothing left to do. */
  private record Written(Consumer<Boolean> done) implements Writes.Completion {
    @Override
    public void written(List<EditOutcome> outcomes) {
      done.accept(!(outcomes.get(0) instanceof EditOutcome.Failed failed) || isForGood(failed));
    }

    private static boolean isForGood(EditOutcome.Failed failed) {
      LectusError error = failed.error();
      return error instanceof LectusError.PreconditionFailed
          || error instanceof LectusError.Forbidden
          || error instanceof LectusError.Unauthorized
          || error instanceof LectusError.BadRequest
          || error instanceof LectusError.TooLarge;
    }

    @Override
    public void failed(Throwable failure) {
      done.accept(false);
    }

    /** As long as it takes. */
    @Override
    public boolean isAwaited() {
      return false;
    }
  }
}
