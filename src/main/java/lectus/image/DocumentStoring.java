package lectus.image;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.BodyRows;
import lectus.document.DocumentsSubspace;
import lectus.document.edit.LocalEdit;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.Presence;
import lectus.document.read.LocalDocsSubspace;
import lectus.document.write.DocumentUpdate;
import lectus.document.write.Maintenance;
import lectus.document.write.UpdateWriter;
import lectus.error.FoundationDbError;
import lectus.image.ImageFrame.Body;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.Gone;
import lectus.image.ImageFrame.Local;
import lectus.json.ExplodedBody;
import lectus.metrics.Tasks.RunningTask;
import lectus.revision.Ancestors;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.OtherLeaves;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.PendingTransaction;

/**
 * Stores the documents of an image while they arrive, which keep their sequences. Each is written
 * with its rows in indexes and stored feeds in one transaction, several documents in each; one with
 * many leaves takes more. One batch is written while the next one arrives. Not thread-safe.
 */
final class DocumentStoring {
  /** Size of what one transaction stores, unless a single leaf has more. */
  private static final int BATCH_BYTES = 1 << 20;

  private static final int BATCH_DOCUMENTS = 1_000;

  /** A batch that was made smaller grows by one part in so many. */
  private static final int GROWTH_PART = 8;

  /** Leaves that a document may have beside others in one transaction. */
  private static final int FEW_LEAVES = 100;

  /** The same for what there was of it, which is read for a whole batch. */
  private static final int FEW_FORMER = 8;

  /** Bytes of rows besides bodies and histories, about. */
  private static final int BYTES_BESIDE = 300;

  private static final int REVISION_BYTES = 18;

  private final HiddenDatabase database;
  private final RunningTask task;
  private final Map<String, Write> batch = new LinkedHashMap<>();
  private long batchBytes;

  /** Documents of a batch: fewer once their rows in indexes and stored feeds were too many. */
  private int most = BATCH_DOCUMENTS;

  private Map<String, Write> committing = Map.of();
  private Optional<PendingTransaction<CommitResult<Void>>> commit = Optional.empty();
  private Arriving arriving = Arriving.NONE;

  /**
   * @param task counts documents
   */
  DocumentStoring(HiddenDatabase database, RunningTask task) {
    this.database = database;
    this.task = task;
  }

  /** What becomes of one document. */
  private sealed interface Write {
    /** A document that takes the place of what there was. */
    record Arrival(
        String id,
        List<EditBranch> branches,
        Map<RevisionId, BodyRows> bodies,
        List<KeyValue> departures)
        implements Write {}

    /** Nothing is left of it. */
    record Departure(Sequence sequence) implements Write {}

    record OfLocal(LocalEdit edit) implements Write {}
  }

  /** A document whose leaves arrive. */
  private static final class Arriving {
    static final Arriving NONE = new Arriving(null);

    private final Document head;
    private final Map<RevisionId, BodyRows> bodies = new HashMap<>();
    private Optional<EditBranch> winner = Optional.empty();
    private long winnerBytes;

    /** Losing branches that were written, without their histories. */
    private final List<EditBranch> written = new ArrayList<>();

    /** Losing branches that were not. */
    private List<EditBranch> due = new ArrayList<>();

    private long dueBytes;

    Arriving(Document head) {
      this.head = head;
    }

    void add(EditBranch branch, long bytes) {
      if (winner.isEmpty()) {
        winner = Optional.of(branch);
        winnerBytes = bytes;
      } else {
        due.add(branch);
        dueBytes += bytes;
      }
    }

    boolean isWritten() {
      return !written.isEmpty();
    }

    int leaves() {
      return 1 + written.size() + due.size();
    }

    /** Notes that losing branches were written. */
    void wrote(List<EditBranch> some) {
      for (EditBranch branch : some) {
        written.add(branch.withoutHistory());
        bodies.remove(branch.leaf());
      }
    }

    /** Returns all branches, the winner first. */
    List<EditBranch> branches() {
      List<EditBranch> losing = new ArrayList<>(written);
      losing.addAll(due);
      List<EditBranch> all = new ArrayList<>(1 + losing.size());
      all.add(
          winner
              .orElseThrow()
              .winningAt(head.sequence(), 1 + losing.size(), OtherLeaves.of(losing)));
      all.addAll(losing);
      return all;
    }

    long heldBytes() {
      return winnerBytes + dueBytes + (long) BYTES_BESIDE * written.size();
    }
  }

  /** Begins a document whose leaves follow. */
  void begin(Document document) {
    arriving = new Arriving(document);
  }

  /** Takes the next leaf of the document that was begun last. */
  void add(DocumentLeaf leaf) {
    Arriving its = arriving;
    EditBranch branch = branch(database.db(), its, leaf);
    its.add(branch, leaf.body().bytes().length + (long) REVISION_BYTES * branch.length());
    long bytes = its.isWritten() ? its.dueBytes : its.heldBytes();
    if (!its.due.isEmpty() && (its.due.size() > FEW_LEAVES || bytes > BATCH_BYTES)) {
      writeLosing();
    }
    if (its.leaves() == its.head.leaves() && !its.head.hasDepartures()) {
      arrive(List.of());
    }
  }

  private static EditBranch branch(DatabaseHandle db, Arriving its, DocumentLeaf leaf) {
    Ancestors ancestors = Ancestors.of(leaf.ancestors(), Ancestors.MAX_COUNT);
    BodySize size = BodySize.NONE;
    if (leaf.body().form() != Body.NONE.form()) {
      ExplodedBody body = leaf.body().exploded();
      BodyRows rows =
          new DocumentsSubspace(db)
              .rows(its.head.id(), leaf.deleted(), leaf.revision(), body, leaf.attachments());
      its.bodies.put(leaf.revision(), rows);
      size =
          new BodySize(
              body.jsonBytes() + leaf.attachments().length(),
              rows.bytes(),
              leaf.attachments().all().size());
    }
    return new EditBranch(leaf.revision(), leaf.deleted(), ancestors, size, null);
  }

  /** Writes leaves of a document that takes more than one transaction. */
  private void writeLosing() {
    Arriving its = arriving;
    if (!its.isWritten()) {
      relieve();
      database.storesInPart(its.head.id());
      leave(its.head.id());
    }
    List<EditBranch> due = its.due;
    its.due = new ArrayList<>();
    database.write(tx -> move(tx, database.db(), List.of(), List.of(part(its, due))));
    its.wrote(due);
    its.dueBytes = 0;
  }

  private static DocumentUpdate part(Arriving its, List<EditBranch> written) {
    return new DocumentUpdate(
        its.head.id(),
        new BranchUpdate(Optional.empty(), Optional.empty(), List.of(), written),
        its.bodies);
  }

  /**
   * Ends the document.
   *
   * @param departures its rows in stored feeds that it has left
   */
  void arrive(List<KeyValue> departures) {
    Arriving its = arriving;
    if (its.isWritten() && !its.due.isEmpty()) {
      writeLosing();
    }
    arriving = Arriving.NONE;
    Write.Arrival arrival =
        new Write.Arrival(its.head.id(), its.branches(), its.bodies, departures);
    if (its.isWritten()) {
      database.write(tx -> writeWinner(tx, arrival));
    } else {
      put(its.head.id(), arrival, its.heldBytes());
    }
    task.advance(1);
  }

  /** Stored feeds look at all branches. */
  private void writeWinner(Transaction tx, Write.Arrival arrival) {
    DocumentUpdate derived =
        Maintenance.complete(tx, database.db(), List.of(update(arrival))).get(0);
    move(tx, database.db(), List.of(), List.of(derived.ofWinner()));
    arrival.departures().forEach(row -> tx.set(database.key(row), row.getValue()));
  }

  private static DocumentUpdate update(Write.Arrival arrival) {
    return DocumentUpdate.arriving(arrival.id(), arrival.branches(), arrival.bodies());
  }

  private static void move(
      Transaction tx,
      DatabaseHandle db,
      List<DocumentUpdate> leaving,
      List<DocumentUpdate> arriving) {
    UpdateWriter writer = new UpdateWriter(tx, db);
    writer.move(leaving, arriving);
    writer.finish();
  }

  /**
   * Takes a local document.
   *
   * @param body what is left of it after the restore
   */
  void put(Local local, ExplodedBody body) {
    LocalEdit edit =
        local.number().isEmpty()
            ? new LocalEdit(local.id(), 0, true, ExplodedBody.empty())
            : new LocalEdit(local.id(), local.number().getAsLong(), false, body);
    put(local.id(), new Write.OfLocal(edit), local.body().bytes().length);
  }

  /** Takes the id of a document of which nothing is left. */
  void leave(Gone gone) {
    put(gone.id(), new Write.Departure(gone.sequence()), 0);
  }

  /** What comes last of a document counts. */
  private void put(String id, Write write, long bytes) {
    if (batchBytes + bytes > BATCH_BYTES) {
      flush();
    }
    batch.remove(id);
    batch.put(id, write);
    batchBytes += bytes + BYTES_BESIDE;
    if (batchBytes >= BATCH_BYTES || batch.size() >= most) {
      flush();
    }
  }

  /** The document that was begun last is not continued. */
  void abandonPart() {
    if (arriving.isWritten()) {
      leave(arriving.head.id());
    }
    arriving = Arriving.NONE;
  }

  long heldBytes() {
    return batchBytes + arriving.heldBytes();
  }

  /** Writes what has come. */
  void relieve() {
    flush();
    await();
  }

  /** Waits for what is being written. */
  void await() {
    Optional<PendingTransaction<CommitResult<Void>>> last = commit;
    commit = Optional.empty();
    if (last.isPresent()) {
      Map<String, Write> writes = committing;
      committing = Map.of();
      inHalves(writes, () -> last.get().finish());
    }
  }

  /**
   * Runs a write of documents; if they are too much for one transaction, in two of half as many.
   */
  private void inHalves(Map<String, Write> writes, Runnable write) {
    try {
      write.run();
    } catch (RuntimeException failure) {
      boolean isTooMuch =
          failure instanceof FDBException of
              && FoundationDbError.TRANSACTION_TOO_LARGE.is(of.getCode());
      if (!isTooMuch || writes.size() == 1) {
        throw failure;
      }
      most = Math.max(1, writes.size() / 2);
      Map<String, Write> first = new LinkedHashMap<>();
      Map<String, Write> second = new LinkedHashMap<>();
      writes.forEach((id, each) -> (first.size() < most ? first : second).put(id, each));
      for (Map<String, Write> half : List.of(first, second)) {
        inHalves(half, () -> begin(half).finish());
      }
    }
  }

  /** Begins to write the batch, while the next one arrives. */
  private void flush() {
    await();
    if (batch.isEmpty()) {
      return;
    }
    // One document with many rows makes no batch small for long.
    most = Math.min(BATCH_DOCUMENTS, most + most / GROWTH_PART + 1);
    Map<String, Write> writes = new LinkedHashMap<>(batch);
    batch.clear();
    batchBytes = 0;
    inHalves(
        writes,
        () -> {
          commit = Optional.of(begin(writes));
          committing = writes;
        });
  }

  /** One document alone may nearly fill a transaction, so what there was of it goes before. */
  private PendingTransaction<CommitResult<Void>> begin(Map<String, Write> writes) {
    Map<String, List<EditBranch>> former = database.read(tx -> former(tx, database.db(), writes));
    Map<String, List<EditBranch>> leaving = new LinkedHashMap<>();
    former.forEach(
        (id, branches) -> {
          if (writes.size() == 1 || branches.size() > FEW_FORMER) {
            leave(id);
          } else {
            leaving.put(id, branches);
          }
        });
    return database.begin(tx -> write(tx, writes, leaving));
  }

  /**
   * Returns the branches of those documents that are there, in place of which others come; of some
   * with many, only a few.
   */
  private static Map<String, List<EditBranch>> former(
      ReadTransaction tx, DatabaseHandle db, Map<String, Write> writes) {
    AllDocsSubspace allDocs = new AllDocsSubspace(db);
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    Map<String, CompletableFuture<Presence>> presences = new LinkedHashMap<>();
    writes.forEach(
        (id, write) -> {
          if (!(write instanceof Write.OfLocal)) {
            presences.put(id, allDocs.presence(tx, id));
          }
        });
    Map<String, CompletableFuture<List<EditBranch>>> reading = new LinkedHashMap<>();
    presences.forEach(
        (id, presence) -> {
          if (Awaiting.await(presence) != Presence.NONE) {
            reading.put(id, revisions.branches(tx, id, Optional.empty(), FEW_FORMER + 1));
          }
        });
    Map<String, List<EditBranch>> former = new LinkedHashMap<>();
    reading.forEach(
        (id, branches) -> {
          List<EditBranch> found = Awaiting.await(branches);
          boolean isLater =
              writes.get(id) instanceof Write.Departure gone
                  && found.get(0).winner().sequence().compareTo(gone.sequence()) > 0;
          if (!isLater) {
            former.put(id, found);
          }
        });
    return former;
  }

  private void write(
      Transaction tx, Map<String, Write> writes, Map<String, List<EditBranch>> former) {
    DatabaseHandle db = database.db();
    List<DocumentUpdate> leaving = new ArrayList<>();
    former.forEach((id, branches) -> leaving.add(DocumentUpdate.leaving(id, branches)));
    List<DocumentUpdate> arriving = new ArrayList<>();
    List<KeyValue> departures = new ArrayList<>();
    LocalDocsSubspace locals = new LocalDocsSubspace(db);
    for (Write write : writes.values()) {
      if (write instanceof Write.Arrival arrival) {
        arriving.add(update(arrival));
        departures.addAll(arrival.departures());
      } else if (write instanceof Write.OfLocal local) {
        locals.write(tx, local.edit(), locals.rows(local.edit()));
      }
    }
    // What is removed is read before anything is written.
    List<DocumentUpdate> removed = Maintenance.complete(tx, db, leaving);
    move(tx, db, removed, Maintenance.complete(tx, db, arriving));
    departures.forEach(row -> tx.set(database.key(row), row.getValue()));
  }

  /** Removes what an attempt that broke off has stored in part of a document, which comes again. */
  void leaveStoredInPart() {
    database.takeStoredInPart().ifPresent(this::leave);
  }

  /** Removes a document that may have more leaves than one transaction can clear. */
  private void leave(String id) {
    List<EditBranch> all = withoutHistories(id);
    if (all.isEmpty()) {
      return;
    }
    int from = 0;
    if (all.get(0).isWinner()) {
      database.write(
          tx -> {
            DocumentUpdate whole = DocumentUpdate.leaving(id, all);
            DocumentUpdate derived = Maintenance.complete(tx, database.db(), List.of(whole)).get(0);
            move(tx, database.db(), List.of(derived.ofWinner()), List.of());
          });
      from = 1;
    }
    while (from < all.size()) {
      List<EditBranch> some = all.subList(from, Math.min(all.size(), from + FEW_LEAVES));
      BranchUpdate clearing = new BranchUpdate(Optional.empty(), Optional.empty(), some, List.of());
      database.write(
          tx ->
              move(
                  tx,
                  database.db(),
                  List.of(new DocumentUpdate(id, clearing, Map.of())),
                  List.of()));
      from += some.size();
    }
  }

  /** Returns all branches of a document, of which not all histories are in memory together. */
  private List<EditBranch> withoutHistories(String id) {
    RevisionsSubspace revisions = new RevisionsSubspace(database.db());
    List<EditBranch> all = new ArrayList<>();
    List<EditBranch> some;
    do {
      Optional<EditBranch> behind =
          all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1));
      some = database.read(tx -> Awaiting.await(revisions.branches(tx, id, behind, FEW_LEAVES)));
      some.forEach(it -> all.add(it.withoutHistory()));
    } while (some.size() == FEW_LEAVES);
    return all;
  }
}
