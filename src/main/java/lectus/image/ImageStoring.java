package lectus.image;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentId;
import lectus.attachment.ContentUpload;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.ReferencesSubspace.Reference;
import lectus.attachment.UnusedSubspace;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.RelocationsSubspace.Attempt;
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
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.image.ImageFrame.Abandoned;
import lectus.image.ImageFrame.Body;
import lectus.image.ImageFrame.Chunk;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageFrame.Departures;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.End;
import lectus.image.ImageFrame.Gone;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Local;
import lectus.image.ImageFrame.Purges;
import lectus.image.ImageFrame.Settings;
import lectus.json.ExplodedBody;
import lectus.json.MalformedTupleException;
import lectus.json.TupleReader;
import lectus.metrics.Tasks.RunningTask;
import lectus.revision.Ancestors;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.OtherLeaves;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.RowPage;
import lectus.store.Store;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.PendingTransaction;

/**
 * Stores an image, and increments that follow it, as a database of another name or store, while the
 * bytes arrive. Documents keep their sequences. Each is written with its rows in indexes and stored
 * feeds in one transaction, several documents in each; one with many leaves takes more. The
 * database appears when everything was stored and was found whole. Its methods wait for the store.
 * Not thread-safe.
 */
public final class ImageStoring {
  /** Size of what one transaction stores, unless a single leaf has more. */
  private static final int BATCH_BYTES = 1 << 20;

  private static final int BATCH_DOCUMENTS = 1_000;

  /** A batch that was made smaller grows by one part in so many. */
  private static final int GROWTH_PART = 8;

  /** Leaves that a document may have beside others in one transaction. */
  private static final int FEW_LEAVES = 100;

  /** The same for what there was of it, which is read for a whole batch. */
  private static final int FEW_FORMER = 8;

  /** After so long a restore is given up, whatever comes. */
  private static final Duration MOST_TIME = Duration.ofDays(30);

  /** Bytes of rows besides bodies and histories, about. */
  private static final int BYTES_BESIDE = 300;

  private static final int REVISION_BYTES = 18;

  /** Contents that are remembered to be looked for; if there are more, all are. */
  private static final int MOST_SHOWN = 10_000;

  private static final int BYTES_OF_ID = 100;

  private final Store store;
  private final Catalogue catalogue;
  private final DatabaseName name;
  private final Optional<Attempt> attempt;
  private final InstantSource clock;
  private final Instant deadline;
  private final RunningTask task;
  private final ImageParser parser = new ImageParser(this::take);
  private final Map<String, Write> batch = new LinkedHashMap<>();
  private long batchBytes;

  /** Documents of a batch: fewer once their rows in indexes and stored feeds were too many. */
  private int most = BATCH_DOCUMENTS;

  private Map<String, Write> committing = Map.of();
  private Optional<Header> header = Optional.empty();
  private Optional<HiddenDatabase> database = Optional.empty();
  private Optional<ContentStoring> content = Optional.empty();
  private Arriving arriving = Arriving.NONE;

  /** Contents that leaves show which have come since the last end. */
  private final Set<ContentId> shown = new HashSet<>();

  private Optional<PendingTransaction<CommitResult<Void>>> commit = Optional.empty();

  /**
   * @param attempt as which it comes from another place, to be kept from everybody until it is
   *     decided which place has it; empty if it comes from none
   */
  public ImageStoring(
      Store store,
      Catalogue catalogue,
      DatabaseName name,
      Optional<Attempt> attempt,
      InstantSource clock) {
    this.store = store;
    this.catalogue = catalogue;
    this.name = name;
    this.attempt = attempt;
    this.clock = clock;
    this.deadline = clock.instant().plus(MOST_TIME);
    this.task = store.tasks().begin(attempt.isPresent() ? "relocation" : "restore", name.text());
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

  /** Returns how many bytes it has in memory. */
  public long heldBytes() {
    return parser.heldBytes()
        + batchBytes
        + arriving.heldBytes()
        + content.map(ContentStoring::heldBytes).orElse(0L)
        + (long) BYTES_OF_ID * shown.size();
  }

  /**
   * Takes the next bytes.
   *
   * @throws LectusException {@code bad_image} (400), {@code file_exists} (412), Unavailable; {@code
   *     request_timeout} (408) if the restore takes too long
   */
  public void take(byte[] bytes) {
    if (clock.instant().isAfter(deadline)) {
      throw new LectusException(
          new LectusError.RequestTimeout(
              "The restore has taken " + MOST_TIME.toDays() + " days. It was given up."));
    }
    parser.take(bytes, 0, bytes.length);
  }

  /** Stores what has come. */
  public void relieve() {
    flush();
    await();
  }

  private void take(ImageFrame frame) {
    try {
      store(frame);
    } catch (MalformedTupleException | IllegalArgumentException unreadable) {
      throw ImageParser.bad("A document in the image cannot be read.");
    }
  }

  private void store(ImageFrame frame) {
    if (frame instanceof Header first) {
      begin(first);
    } else if (frame instanceof Settings settings) {
      relieve();
      database.orElseThrow().set(settings.rows());
    } else if (frame instanceof Document document) {
      arriving = new Arriving(document);
    } else if (frame instanceof DocumentLeaf leaf) {
      add(leaf);
    } else if (frame instanceof Departures departures) {
      requireBelow(DatabaseSubspace.DERIVED_ROWS, departures.rows());
      arrive(departures.rows());
    } else if (frame instanceof Abandoned) {
      abandonPart();
    } else if (frame instanceof Gone gone) {
      put(gone.id(), new Write.Departure(gone.sequence()), 0);
    } else if (frame instanceof Local local) {
      put(local);
    } else if (frame instanceof Content begun) {
      content = ContentStoring.begin(database.orElseThrow(), begun);
    } else if (frame instanceof Chunk chunk) {
      content.ifPresent(it -> it.take(chunk.bytes()));
    } else if (frame instanceof Purges purges) {
      relieve();
      HiddenDatabase to = database.orElseThrow();
      requireBelow(DatabaseSubspace.PURGES, purges.rows());
      to.write(tx -> purges.rows().forEach(row -> tx.set(to.key(row), row.getValue())));
    } else if (frame instanceof End end) {
      relieve();
      checkContents();
      if (attempt.isPresent()) {
        database.orElseThrow().reached(end.sequence());
      }
    }
  }

  private static void requireBelow(DatabaseSubspace part, List<KeyValue> rows) {
    byte[] prefix = part.key(new byte[0]).toBytes();
    if (!rows.stream().allMatch(row -> TupleReader.isAtOrBelow(prefix, row.getKey()))) {
      throw new MalformedTupleException("A row is out of place");
    }
  }

  private void begin(Header next) {
    if (header.isEmpty()) {
      if (next.since().isPresent()) {
        throw ImageParser.bad("The first image is an increment; a whole image comes first.");
      }
      if (!rules(next.database()).equals(rules(name.text()))) {
        throw LectusException.badRequest(
            "An image of " + next.database() + " cannot be stored as " + name.text() + ".");
      }
      database = Optional.of(HiddenDatabase.begin(store, catalogue, name, attempt));
    }
    header = Optional.of(next);
  }

  /**
   * Returns the end of a name if databases with that end have rules of their own, as {@code _users}
   * and {@code a/_users}: who may read them, and what their documents do.
   */
  private static String rules(String database) {
    String end = database.substring(database.lastIndexOf('/') + 1);
    return end.startsWith("_") ? end : "";
  }

  /** A database that moves is behind nobody, so its checkpoints stand as they are. */
  private void put(Local local) {
    ExplodedBody body = attempt.isPresent() ? local.body().exploded() : local.body().local();
    LocalEdit edit =
        local.number().isEmpty()
            ? new LocalEdit(local.id(), 0, true, ExplodedBody.empty())
            : new LocalEdit(local.id(), local.number().getAsLong(), false, body);
    put(local.id(), new Write.OfLocal(edit), local.body().bytes().length);
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

  private void add(DocumentLeaf leaf) {
    Arriving its = arriving;
    EditBranch branch = branch(database.orElseThrow().db(), its, leaf);
    if (shown.size() <= MOST_SHOWN) {
      shown.addAll(leaf.attachments().contents());
    }
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
      leave(its.head.id());
    }
    List<EditBranch> due = its.due;
    its.due = new ArrayList<>();
    HiddenDatabase to = database.orElseThrow();
    to.write(tx -> move(tx, to.db(), List.of(), List.of(part(its, due))));
    its.wrote(due);
    its.dueBytes = 0;
  }

  private static DocumentUpdate part(Arriving its, List<EditBranch> written) {
    return new DocumentUpdate(
        its.head.id(),
        new BranchUpdate(Optional.empty(), Optional.empty(), List.of(), written),
        its.bodies);
  }

  private void arrive(List<KeyValue> departures) {
    Arriving its = arriving;
    if (its.isWritten() && !its.due.isEmpty()) {
      writeLosing();
    }
    arriving = Arriving.NONE;
    Write.Arrival arrival =
        new Write.Arrival(its.head.id(), its.branches(), its.bodies, departures);
    if (its.isWritten()) {
      HiddenDatabase to = database.orElseThrow();
      to.write(tx -> writeWinner(tx, to, arrival));
    } else {
      put(its.head.id(), arrival, its.heldBytes());
    }
    task.advance(1);
  }

  /** Stored feeds look at all branches. */
  private static void writeWinner(Transaction tx, HiddenDatabase to, Write.Arrival arrival) {
    DocumentUpdate derived = Maintenance.complete(tx, to.db(), List.of(update(arrival))).get(0);
    move(tx, to.db(), List.of(), List.of(derived.ofWinner()));
    arrival.departures().forEach(row -> tx.set(to.key(row), row.getValue()));
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

  private void abandonPart() {
    if (arriving.isWritten()) {
      leave(arriving.head.id());
    }
    arriving = Arriving.NONE;
    content.ifPresent(ContentStoring::abandon);
    content = Optional.empty();
  }

  private void await() {
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
    HiddenDatabase to = database.orElseThrow();
    Map<String, List<EditBranch>> former = to.read(tx -> former(tx, to.db(), writes));
    Map<String, List<EditBranch>> leaving = new LinkedHashMap<>();
    former.forEach(
        (id, branches) -> {
          if (writes.size() == 1 || branches.size() > FEW_FORMER) {
            leave(id);
          } else {
            leaving.put(id, branches);
          }
        });
    return to.begin(tx -> write(tx, to, writes, leaving));
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

  private static void write(
      Transaction tx,
      HiddenDatabase to,
      Map<String, Write> writes,
      Map<String, List<EditBranch>> former) {
    DatabaseHandle db = to.db();
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
    departures.forEach(row -> tx.set(to.key(row), row.getValue()));
  }

  /** Removes a document that may have more leaves than one transaction can clear. */
  private void leave(String id) {
    HiddenDatabase to = database.orElseThrow();
    List<EditBranch> all = withoutHistories(to, id);
    if (all.isEmpty()) {
      return;
    }
    int from = 0;
    if (all.get(0).isWinner()) {
      to.write(
          tx -> {
            DocumentUpdate whole = DocumentUpdate.leaving(id, all);
            DocumentUpdate derived = Maintenance.complete(tx, to.db(), List.of(whole)).get(0);
            move(tx, to.db(), List.of(derived.ofWinner()), List.of());
          });
      from = 1;
    }
    while (from < all.size()) {
      List<EditBranch> some = all.subList(from, Math.min(all.size(), from + FEW_LEAVES));
      BranchUpdate clearing = new BranchUpdate(Optional.empty(), Optional.empty(), some, List.of());
      to.write(
          tx -> move(tx, to.db(), List.of(new DocumentUpdate(id, clearing, Map.of())), List.of()));
      from += some.size();
    }
  }

  /** Returns all branches of a document, of which not all histories are in memory together. */
  private static List<EditBranch> withoutHistories(HiddenDatabase from, String id) {
    RevisionsSubspace revisions = new RevisionsSubspace(from.db());
    List<EditBranch> all = new ArrayList<>();
    List<EditBranch> some;
    do {
      Optional<EditBranch> behind =
          all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1));
      some = from.read(tx -> Awaiting.await(revisions.branches(tx, id, behind, FEW_LEAVES)));
      some.forEach(it -> all.add(it.withoutHistory()));
    } while (some.size() == FEW_LEAVES);
    return all;
  }

  /**
   * Ends the image: it has come as a whole. One from another place waits until it is decided which
   * place has the database.
   *
   * @throws LectusException {@code bad_image} (400), {@code file_exists} (412)
   */
  public void end() {
    Sequence last = parser.finish().sequence();
    HiddenDatabase whole = database.orElseThrow();
    if (attempt.isPresent()) {
      whole.standReady(header.orElseThrow().createdAtSeconds(), last);
      task.close();
    } else {
      whole.requireFree();
    }
  }

  /** Fills in a part of what was defined later than the documents; returns whether it did. */
  public boolean fillNext() {
    return database.orElseThrow().fillNext();
  }

  /**
   * Makes everybody find the database, which is whole.
   *
   * @throws LectusException {@code file_exists} (412)
   */
  public Restored appear() {
    Sequence last = parser.finish().sequence();
    DatabaseHandle db =
        database.orElseThrow().appear(header.orElseThrow().createdAtSeconds(), last);
    task.close();
    return new Restored(db, last);
  }

  /**
   * A database that is there now.
   *
   * @param last the last sequence of the image
   */
  public record Restored(DatabaseHandle db, Sequence last) {}

  /** No leaf may show a content that has not come. */
  private void checkContents() {
    HiddenDatabase to = database.orElseThrow();
    ContentsSubspace contents = new ContentsSubspace(to.db().prefix());
    boolean haveCome =
        shown.size() <= MOST_SHOWN
            && to.read(
                tx ->
                    shown.stream().map(id -> contents.get(tx, id)).toList().stream()
                        .allMatch(it -> Awaiting.await(it).isPresent()));
    shown.clear();
    if (!haveCome) {
      // A document may have come again without it.
      checkAllContents();
    }
  }

  private void checkAllContents() {
    HiddenDatabase from = database.orElseThrow();
    byte[] prefix = from.db().prefix();
    ReferencesSubspace references = new ReferencesSubspace(prefix);
    ContentsSubspace contents = new ContentsSubspace(prefix);
    byte[] end = AttachmentKeys.REFERENCES.range(prefix).end;
    Optional<byte[]> next = Optional.of(AttachmentKeys.REFERENCES.range(prefix).begin);
    while (next.isPresent()) {
      byte[] begin = next.get();
      RowPage page = from.read(tx -> RowPage.read(tx, begin, end));
      List<Reference> shown =
          page.rows().stream().map(row -> references.decode(row.getKey(), row.getValue())).toList();
      from.read(tx -> lacking(tx, contents, shown))
          .ifPresent(
              it -> {
                throw ImageParser.bad(
                    "The image lacks an attachment of the document " + it.docId() + ".");
              });
      next = page.next();
    }
  }

  /** Returns the first reference to a content that is not there. */
  private static Optional<Reference> lacking(
      ReadTransaction tx, ContentsSubspace contents, List<Reference> shown) {
    Map<ContentId, CompletableFuture<Optional<StoredContent>>> reading = new HashMap<>();
    shown.forEach(it -> reading.computeIfAbsent(it.content(), id -> contents.get(tx, id)));
    return shown.stream()
        .filter(it -> Awaiting.await(reading.get(it.content())).isEmpty())
        .findFirst();
  }

  /** Removes what was stored. */
  public void abandon() {
    task.close();
    try {
      await();
    } finally {
      database.ifPresent(HiddenDatabase::remove);
    }
  }

  /**
   * Stores a content of attachments of a database that is being restored, some chunks at a time.
   */
  private static final class ContentStoring {
    private static final int CHUNKS_AT_ONCE = 8;

    private final HiddenDatabase database;
    private final Content content;
    private final UploadId upload = UploadId.random();
    private final ChunksSubspace chunks;
    private final List<byte[]> waiting = new ArrayList<>();
    private byte[] filling = new byte[0];
    private long stored;
    private long come;

    private ContentStoring(HiddenDatabase database, Content content) {
      this.database = database;
      this.content = content;
      this.chunks = new ChunksSubspace(database.db().prefix());
    }

    /** Returns empty if the content is there already. */
    static Optional<ContentStoring> begin(HiddenDatabase database, Content content) {
      ContentsSubspace contents = new ContentsSubspace(database.db().prefix());
      if (database.read(tx -> Awaiting.await(contents.get(tx, content.id()))).isPresent()) {
        return Optional.empty();
      }
      ContentStoring storing = new ContentStoring(database, content);
      if (content.length() == 0) {
        storing.finish();
        return Optional.empty();
      }
      return Optional.of(storing);
    }

    long heldBytes() {
      return filling.length + (long) waiting.size() * ContentUpload.CHUNK_BYTES;
    }

    /** Takes the next bytes; the last ones finish it. */
    void take(byte[] bytes) {
      come += bytes.length;
      int at = 0;
      while (at < bytes.length) {
        int count = Math.min(bytes.length - at, ContentUpload.CHUNK_BYTES - filling.length);
        byte[] more = Arrays.copyOf(filling, filling.length + count);
        System.arraycopy(bytes, at, more, filling.length, count);
        filling = more;
        at += count;
        if (filling.length == ContentUpload.CHUNK_BYTES) {
          complete();
        }
      }
      if (come == content.length()) {
        if (filling.length > 0) {
          waiting.add(filling);
        }
        finish();
      }
    }

    private void complete() {
      waiting.add(filling);
      filling = new byte[0];
      if (waiting.size() == CHUNKS_AT_ONCE) {
        store();
      }
    }

    private void store() {
      database.write(this::putWaiting);
      stored += waiting.size();
      waiting.clear();
    }

    private void putWaiting(Transaction tx) {
      for (int i = 0; i < waiting.size(); i++) {
        chunks.put(tx, upload, stored + i, waiting.get(i));
      }
    }

    /** Nobody may refer to it any more, so the sweep looks. */
    private void finish() {
      StoredContent whole =
          new StoredContent(
              upload,
              content.length(),
              content.md5(),
              ContentUpload.CHUNK_BYTES,
              content.plainLength());
      byte[] prefix = database.db().prefix();
      database.write(
          tx -> {
            putWaiting(tx);
            new ContentsSubspace(prefix).put(tx, content.id(), whole);
            new UnusedSubspace(prefix).put(tx, content.id(), Awaiting.await(tx.getReadVersion()));
          });
    }

    /** The content does not come to its end. */
    void abandon() {
      if (come < content.length()) {
        database.write(tx -> chunks.clear(tx, upload));
      }
    }
  }
}
