package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.document.AttachmentJson;
import lectus.document.AttachmentJson.FollowingAttachments;
import lectus.document.AttachmentsShown;
import lectus.document.DatabaseReads;
import lectus.document.DocumentId;
import lectus.document.DocumentJson;
import lectus.document.FilledBody;
import lectus.document.PagedBody;
import lectus.document.StoredBody;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.read.PartWriter.Piece;
import lectus.document.read.Projection.FieldsReader;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.Winner;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Reads single documents (RFC 004, CRUD Operations). */
public final class DocumentReader implements Measured {
  private static final int TYPICAL_BYTES = 1_024;
  private static final String MISSING = "missing";
  private static final String DELETED = "deleted";

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DocumentCache hot;

  public DocumentReader(Catalogue catalogue, TransactionRunner transactions, DocumentCache hot) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.hot = hot;
  }

  /**
   * Appends one document as JSON, without a line feed.
   *
   * @return the revision appended
   * @throws LectusException {@code not_found}, with the reason {@code missing} or {@code deleted}
   */
  public RevisionId read(DatabaseRequest asked, String id, DocumentQuery options, JsonBuffer out) {
    return read(asked, id, options, out, new FollowingAttachments());
  }

  /**
   * Like {@link #read(DatabaseRequest, String, DocumentQuery, JsonBuffer)}, with the bytes of
   * attachments, for which the answer is longer than it should be in memory.
   *
   * @param boundary of the parts, if the attachments follow the document
   * @throws LectusException as above
   */
  public DocumentWithBytes readWithBytes(
      DatabaseRequest asked, String id, DocumentQuery options, String boundary) {
    JsonBuffer json = new JsonBuffer(TYPICAL_BYTES);
    FollowingAttachments following = new FollowingAttachments();
    RevisionId revision = read(asked, id, options, json, following);
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    return DocumentWithBytes.of(reads, revision, json, following.take(), boundary);
  }

  private RevisionId read(
      DatabaseRequest asked,
      String id,
      DocumentQuery options,
      JsonBuffer out,
      FollowingAttachments following) {
    int start = out.length();
    return transactions.read(
        tx -> {
          out.truncate(start);
          following.clear();
          return read(tx, asked.current(tx, catalogue), id, options, out, following);
        });
  }

  /**
   * Like {@link #read} with default options, for a recently read document or a small one, if memory
   * alone has it and shows that it is current. Never waits, so an event loop may call it.
   *
   * @return empty if the document has to be read
   */
  public Optional<RevisionId> readHot(DatabaseRequest asked, String id, JsonBuffer out) {
    return transactions.readFromMemory(
        tx -> {
          DatabaseHandle db = asked.current(tx, catalogue);
          DocumentId.checkIn(db, id);
          return hot.find(tx, db, id)
              .map(known -> append(known, out))
              .or(() -> readSmall(tx, db, new Bodies(db), id, out));
        });
  }

  /** Returns what reads attachments of the same documents. */
  public AttachmentReader attachments() {
    return new AttachmentReader(catalogue, transactions);
  }

  /** Returns how many single documents were asked for. */
  public long reads() {
    return hot.figures.lookUps();
  }

  @Override
  public void describe(Meters meters) {
    hot.describe(meters);
  }

  private static RevisionId append(DocumentCache.Hot known, JsonBuffer out) {
    out.raw(known.json());
    return known.revision();
  }

  RevisionId read(
      ReadTransaction tx,
      DatabaseHandle db,
      String id,
      DocumentQuery options,
      JsonBuffer out,
      FollowingAttachments following) {
    DocumentId.checkIn(db, id);
    if (options.revision().isPresent()) {
      return new NamedRevisionReader(tx, db, id, following).append(options, out);
    }
    return options.needsBranches()
        ? readWithBranches(tx, db, id, options, out, following)
        : readWinner(tx, db, id, options, out);
  }

  /**
   * Returns the live winner without its body; reads one key-value.
   *
   * @throws LectusException {@code not_found}, with the reason {@code missing} or {@code deleted}
   */
  public RevisionId currentRevision(DatabaseRequest asked, String id) {
    return transactions.read(tx -> winningRevision(tx, asked.current(tx, catalogue), id));
  }

  /** Whether the revision is on any branch of the document, be it live, deleted or replaced. */
  public boolean isKnown(DatabaseRequest asked, String id, RevisionId revision) {
    return transactions.read(
        tx ->
            Awaiting.await(new RevisionsSubspace(asked.current(tx, catalogue)).branches(tx, id))
                .stream()
                .anyMatch(it -> it.contains(revision)));
  }

  /**
   * Returns the whole answer to {@code open_revs}. Its first part throws {@code not_found} when all
   * leaves are requested of a document that was never written.
   */
  public PagedBody openRevisions(
      DatabaseRequest asked, String id, OpenRevisions which, OpenRevisionsForm form) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    return new FilledBody(reads, new OpenRevisionsBody(reads, id, which, form));
  }

  private RevisionId readWinner(
      ReadTransaction tx, DatabaseHandle db, String id, DocumentQuery options, JsonBuffer out) {
    if (!options.fields().isEmpty()) {
      RevisionId revision = winningRevision(tx, db, id);
      new FieldsReader(tx, db).append(id, false, revision, options.fields(), out);
      DocumentJson.close(out);
      return revision;
    }
    Optional<DocumentCache.Hot> known = hot.find(tx, db, id);
    return known.isPresent() ? append(known.get(), out) : readCold(tx, db, id, out);
  }

  private RevisionId readCold(ReadTransaction tx, DatabaseHandle db, String id, JsonBuffer out) {
    Bodies bodies = new Bodies(db);
    return readSmall(tx, db, bodies, id, out).orElseGet(() -> readAny(tx, db, bodies, id, out));
  }

  private Optional<RevisionId> readSmall(
      ReadTransaction tx, DatabaseHandle db, Bodies bodies, String id, JsonBuffer out) {
    return bodies
        .smallWinner(tx, id)
        .map(
            winner -> {
              Optional<Winner> changed =
                  hot.isAskedForAgain(db, id)
                      ? Awaiting.await(
                          new RevisionsSubspace(db).asWinner(tx, id, winner.revision()))
                      : Optional.empty();
              return append(db, id, winner, changed, out);
            });
  }

  private RevisionId readAny(
      ReadTransaction tx, DatabaseHandle db, Bodies bodies, String id, JsonBuffer out) {
    CompletableFuture<Optional<EditBranch>> branch =
        hot.isAskedForAgain(db, id)
            ? new RevisionsSubspace(db).winner(tx, id)
            : CompletableFuture.completedFuture(Optional.empty());
    Bodies.Found winner = bodies.winner(tx, id);
    if (winner == null) {
      throw notFound(tx, db, id);
    }
    return append(db, id, winner, Awaiting.await(branch).map(EditBranch::winner), out);
  }

  /**
   * @param changed of a document that was asked for again, which is kept
   */
  private RevisionId append(
      DatabaseHandle db, String id, Bodies.Found winner, Optional<Winner> changed, JsonBuffer out) {
    int start = out.length();
    DocumentJson.append(out, id, false, winner.revision(), winner.body());
    DocumentJson.close(out, winner.body().attachments());
    changed.ifPresent(it -> hot.add(db, id, winner.revision(), it.sequence(), out, start));
    return winner.revision();
  }

  private static RevisionId winningRevision(ReadTransaction tx, DatabaseHandle db, String id) {
    return Awaiting.await(new AllDocsSubspace(db).get(tx, id))
        .map(AllDocsRow::winner)
        .orElseThrow(() -> notFound(tx, db, id));
  }

  /** RFC 004: a document without a live body was deleted or never written. */
  private static LectusException notFound(ReadTransaction tx, DatabaseHandle db, String id) {
    AllDocsSubspace.Presence presence = Awaiting.await(new AllDocsSubspace(db).presence(tx, id));
    return LectusException.notFound(presence == AllDocsSubspace.Presence.NONE ? MISSING : DELETED);
  }

  private static RevisionId readWithBranches(
      ReadTransaction tx,
      DatabaseHandle db,
      String id,
      DocumentQuery options,
      JsonBuffer out,
      FollowingAttachments following) {
    CompletableFuture<List<EditBranch>> reading = branches(tx, db, id, options);
    Bodies.Found found = options.fields().isEmpty() ? new Bodies(db).winner(tx, id) : null;
    List<EditBranch> branches = Awaiting.await(reading);
    EditBranch winner = liveWinner(branches);
    if (options.fields().isEmpty()) {
      DocumentJson.append(out, id, false, found.revision(), found.body());
    } else {
      new FieldsReader(tx, db).append(id, false, winner.leaf(), options.fields(), out);
    }
    appendSpecialMembers(out, options, branches, db.configuration().revsLimit());
    new AttachmentJson(options.attachments(), following)
        .close(out, found == null ? AttachmentList.NONE : found.body().attachments(), winner);
    return winner.leaf();
  }

  /** Reads the losing branches only if they are listed. */
  private static CompletableFuture<List<EditBranch>> branches(
      ReadTransaction tx, DatabaseHandle db, String id, DocumentQuery options) {
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    return options.conflicts() || options.deletedConflicts()
        ? revisions.branches(tx, id)
        : revisions.winner(tx, id).thenApply(winner -> winner.map(List::of).orElse(List.of()));
  }

  private static EditBranch liveWinner(List<EditBranch> branches) {
    if (branches.isEmpty()) {
      throw LectusException.notFound(MISSING);
    }
    if (branches.get(0).deleted()) {
      throw LectusException.notFound(DELETED);
    }
    return branches.get(0);
  }

  private static void appendSpecialMembers(
      JsonBuffer out, DocumentQuery options, List<EditBranch> branches, int revsLimit) {
    EditBranch winner = branches.get(0);
    if (options.revs()) {
      DocumentJson.appendRevisions(out, winner, revsLimit);
    }
    if (options.revsInfo()) {
      DocumentJson.appendRevisionsInfo(out, winner);
    }
    if (options.conflicts()) {
      DocumentJson.appendConflicts(out, branches);
    }
    if (options.deletedConflicts()) {
      DocumentJson.appendDeletedConflicts(out, branches);
    }
    if (options.localSeq()) {
      DocumentJson.appendLocalSequence(out, winner.winner().sequence());
    }
  }

  /**
   * The answer to {@code open_revs}, in CouchDB's order: documents by ascending revision, then
   * missing revisions. The first part decides which leaves there are.
   */
  private static final class OpenRevisionsBody implements PagedBody {
    private final DatabaseReads reads;
    private final String id;
    private final OpenRevisions which;
    private final OpenRevisionsForm form;
    private List<Piece> pieces;
    private int next;

    OpenRevisionsBody(DatabaseReads reads, String id, OpenRevisions which, OpenRevisionsForm form) {
      this.reads = reads;
      this.id = id;
      this.which = which;
      this.form = form;
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      int start = out.length();
      record Part(List<Piece> pieces, int next) {}
      Part part =
          reads.read(
              (tx, db) -> {
                out.truncate(start);
                List<Piece> all = pieces == null ? resolve(tx, db) : pieces;
                PartWriter writer = new PartWriter(tx, db, which.revs(), which.attachments(), out);
                return new Part(all, writer.append(all, next, start + PartWriter.PART_BYTES));
              });
      pieces = part.pieces();
      next = part.next();
      return next < pieces.size();
    }

    private List<Piece> resolve(ReadTransaction tx, DatabaseHandle db) {
      List<EditBranch> branches = Awaiting.await(new RevisionsSubspace(db).branches(tx, id));
      if (which.revisions().isEmpty() && branches.isEmpty()) {
        throw LectusException.notFound("missing");
      }
      TreeMap<RevisionId, EditBranch> found = new TreeMap<>();
      TreeSet<RevisionId> missing = new TreeSet<>();
      if (which.revisions().isEmpty()) {
        branches.forEach(branch -> found.put(branch.leaf(), branch));
      } else {
        for (RevisionId revision : which.revisions().get()) {
          List<EditBranch> leaves = leaves(branches, revision);
          leaves.forEach(branch -> found.put(branch.leaf(), branch));
          if (leaves.isEmpty()) {
            missing.add(revision);
          }
        }
      }
      return form.pieces(id, List.copyOf(found.values()), List.copyOf(missing));
    }

    private List<EditBranch> leaves(List<EditBranch> branches, RevisionId revision) {
      return branches.stream()
          .filter(
              branch -> which.latest() ? branch.contains(revision) : branch.leaf().equals(revision))
          .sorted(Comparator.comparing(EditBranch::leaf))
          .toList();
    }
  }

  /** Reads a document at a revision named by the client. */
  private static final class NamedRevisionReader {
    private final ReadTransaction tx;
    private final DatabaseHandle db;
    private final String id;
    private final FollowingAttachments following;
    private final Bodies bodies;
    private final FieldsReader fields;
    private final RevisionsSubspace revisions;

    NamedRevisionReader(
        ReadTransaction tx, DatabaseHandle db, String id, FollowingAttachments following) {
      this.following = following;
      this.tx = tx;
      this.db = db;
      this.id = id;
      this.bodies = new Bodies(db);
      this.fields = new FieldsReader(tx, db);
      this.revisions = new RevisionsSubspace(db);
    }

    /**
     * @return the revision appended
     * @throws LectusException {@code not_found} when the revision is not a leaf
     */
    RevisionId append(DocumentQuery options, JsonBuffer out) {
      RevisionId wanted = options.revision().orElseThrow();
      boolean bodyTellsAll =
          !options.revs()
              && options.fields().isEmpty()
              && options.attachments().equals(AttachmentsShown.STUBS);
      if (bodyTellsAll) {
        StoredBody live = Awaiting.await(bodies.of(tx, id, false, wanted));
        if (live.isStored()) {
          DocumentJson.append(out, id, false, wanted, live);
          DocumentJson.close(out, live.attachments());
          return wanted;
        }
      }
      EditBranch leaf = leaf(wanted);
      append(leaf, options, out);
      return leaf.leaf();
    }

    private void append(EditBranch leaf, DocumentQuery options, JsonBuffer out) {
      AttachmentList attachments = AttachmentList.NONE;
      if (options.fields().isEmpty()) {
        StoredBody body = Awaiting.await(bodies.of(tx, id, leaf));
        DocumentJson.append(out, id, leaf.deleted(), leaf.leaf(), body);
        attachments = body.attachments();
      } else {
        fields.append(id, leaf.deleted(), leaf.leaf(), options.fields(), out);
      }
      if (options.revs()) {
        DocumentJson.appendRevisions(out, leaf, db.configuration().revsLimit());
      }
      new AttachmentJson(options.attachments(), following).close(out, attachments, leaf);
    }

    /** The key contains whether the leaf is deleted, so both possible keys are read at once. */
    private EditBranch leaf(RevisionId wanted) {
      CompletableFuture<Optional<EditBranch>> live = revisions.branch(tx, id, false, wanted);
      CompletableFuture<Optional<EditBranch>> deleted = revisions.branch(tx, id, true, wanted);
      return Awaiting.await(live)
          .or(() -> Awaiting.await(deleted))
          .orElseThrow(NamedRevisionReader::missing);
    }

    private static LectusException missing() {
      return LectusException.notFound("missing");
    }
  }

  /** The format of an answer to {@code open_revs}. */
  public interface OpenRevisionsForm {
    /**
     * Returns the whole answer: found leaves, then missing revisions, each in the order given.
     *
     * @param found leaves of the document
     */
    List<Piece> pieces(String id, List<EditBranch> found, List<RevisionId> missing);
  }
}
