package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.document.AttachmentsShown;
import lectus.document.DatabaseReads;
import lectus.document.DocumentId;
import lectus.document.DocumentsSubspace;
import lectus.document.FilledBody;
import lectus.document.PagedBody;
import lectus.document.RequestJson;
import lectus.document.RevisionMetadata;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.read.BulkGetForm.BulkGetResult;
import lectus.document.read.PartWriter.Piece;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonString;
import lectus.revision.EditBranch;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** {@code _bulk_get}: many revisions of many documents at once. */
public final class BulkGet {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;

  public BulkGet(Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
  }

  /**
   * Returns the whole answer.
   *
   * @param body the request's body, JSON
   * @param revs adds {@code _revisions} to each document
   * @param latest returns the leaves below the requested revisions instead
   * @param attachments how documents show them
   * @param form the format of the answer
   * @throws LectusException {@code bad_request}
   */
  public PagedBody answer(
      DatabaseRequest asked,
      byte[] body,
      boolean revs,
      boolean latest,
      AttachmentsShown attachments,
      BulkGetForm form) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    return new FilledBody(
        reads, new BulkGetBody(reads, requests(body), revs, latest, attachments, form));
  }

  /** A revision of a document. */
  public record Leaf(String id, RevisionId revision) {}

  /**
   * Returns what stores live leaves in another database.
   *
   * @return in their order; empty for one that has attachments or takes more than one row, and for
   *     what is no live leaf
   */
  public List<Optional<ReplicatedEdit>> edits(DatabaseRequest asked, List<Leaf> leaves) {
    return new DatabaseReads(catalogue, transactions, asked)
        .read((tx, db) -> edits(tx, db, leaves));
  }

  private static List<Optional<ReplicatedEdit>> edits(
      ReadTransaction tx, DatabaseHandle db, List<Leaf> leaves) {
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    DocumentsSubspace documents = new DocumentsSubspace(db);
    List<CompletableFuture<Optional<EditBranch>>> branches = new ArrayList<>(leaves.size());
    List<CompletableFuture<byte[]>> bodies = new ArrayList<>(leaves.size());
    for (Leaf leaf : leaves) {
      branches.add(revisions.branch(tx, leaf.id(), false, leaf.revision()));
      bodies.add(tx.get(documents.revision(leaf.id(), false, leaf.revision())));
    }
    int mostAncestors = Math.max(0, db.configuration().revsLimit() - 1);
    List<Optional<ReplicatedEdit>> edits = new ArrayList<>(leaves.size());
    for (int i = 0; i < leaves.size(); i++) {
      String id = leaves.get(i).id();
      byte[] body = Awaiting.await(bodies.get(i));
      edits.add(Awaiting.await(branches.get(i)).flatMap(it -> edit(id, it, body, mostAncestors)));
    }
    return edits;
  }

  private static Optional<ReplicatedEdit> edit(
      String id, EditBranch branch, byte[] body, int mostAncestors) {
    if (body == null || branch.body().hasAttachments()) {
      return Optional.empty();
    }
    RevisionMetadata metadata = RevisionMetadata.of(body);
    if (!metadata.isInline()) {
      return Optional.empty();
    }
    List<RevisionHash> ancestors = branch.ancestors().toList();
    RevisionPath path =
        new RevisionPath(
            branch.leaf(), ancestors.subList(0, Math.min(mostAncestors, ancestors.size())));
    int jsonBytes = (int) branch.body().external();
    return Optional.of(
        new ReplicatedEdit(id, path, false, ExplodedBody.ofPacked(metadata.packed(), jsonBytes)));
  }

  private static List<BulkGetRequest> requests(byte[] body) {
    JsonValue docs =
        RequestJson.object(body)
            .get("docs")
            .orElseThrow(() -> LectusException.badRequest("Missing JSON list of 'docs'."));
    if (!(docs instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("Missing JSON list of 'docs'.");
    }
    List<BulkGetRequest> requests = new ArrayList<>(array.elements().size());
    for (JsonValue element : array.elements()) {
      requests.add(BulkGetRequest.parse(element));
    }
    return requests;
  }

  /** The answer to {@code _bulk_get}: one result per request, in the order of the requests. */
  static final class BulkGetBody implements PagedBody {
    /** Number of requests whose edit branches are read together, and then their bodies. */
    private static final int REQUESTS_AT_ONCE = 50;

    private final DatabaseReads reads;
    private final List<BulkGetRequest> requests;
    private final boolean revs;
    private final boolean latest;
    private final AttachmentsShown attachments;
    private final BulkGetForm form;
    private Progress progress = new Progress(0, List.of(), 0);

    BulkGetBody(
        DatabaseReads reads,
        List<BulkGetRequest> requests,
        boolean revs,
        boolean latest,
        AttachmentsShown attachments,
        BulkGetForm form) {
      this.reads = reads;
      this.requests = requests;
      this.revs = revs;
      this.latest = latest;
      this.attachments = attachments;
      this.form = form;
    }

    /**
     * @param request the index of the next request to look at
     * @param pieces the pieces that earlier requests produced
     * @param piece the index of the next piece to write
     */
    private record Progress(int request, List<Piece> pieces, int piece) {
      boolean piecesAreWritten() {
        return piece == pieces.size();
      }
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      int start = out.length();
      boolean first = progress.request() == 0;
      progress =
          reads.read(
              (tx, db) -> {
                out.truncate(start);
                if (first) {
                  out.ascii(form.head());
                }
                PartWriter writer = new PartWriter(tx, db, revs, attachments, out);
                return append(tx, db, writer, out, start + PartWriter.PART_BYTES);
              });
      boolean more = progress.request() < requests.size() || !progress.piecesAreWritten();
      if (!more) {
        out.ascii(form.end(requests.isEmpty()));
      }
      return more;
    }

    private Progress append(
        ReadTransaction tx, DatabaseHandle db, PartWriter writer, JsonBuffer out, int enough) {
      Progress at = progress;
      while (out.length() < enough) {
        if (at.piecesAreWritten()) {
          if (at.request() == requests.size()) {
            return at;
          }
          int stop = Math.min(requests.size(), at.request() + REQUESTS_AT_ONCE);
          at = new Progress(stop, resolve(tx, db, at.request(), stop), 0);
        }
        int piece = writer.append(at.pieces(), at.piece(), enough);
        at = new Progress(at.request(), at.pieces(), piece);
      }
      return at;
    }

    private List<Piece> resolve(ReadTransaction tx, DatabaseHandle db, int from, int to) {
      RevisionsSubspace revisions = new RevisionsSubspace(db);
      List<CompletableFuture<List<EditBranch>>> reading = new ArrayList<>(to - from);
      List<BulkGetRequest> checked =
          requests.subList(from, to).stream().map(it -> it.checkedFor(db)).toList();
      for (BulkGetRequest request : checked) {
        reading.add(
            request instanceof BulkGetRequest.Document document
                ? branches(tx, revisions, document)
                : null);
      }
      List<Piece> pieces = new ArrayList<>();
      for (int i = from; i < to; i++) {
        form.add(result(checked.get(i - from), reading.get(i - from)), i == 0, pieces);
      }
      return pieces;
    }

    /**
     * Most revisions that are asked for are live leaves. Such a one is found by its key, and no
     * other branch has it.
     */
    private static CompletableFuture<List<EditBranch>> branches(
        ReadTransaction tx, RevisionsSubspace revisions, BulkGetRequest.Document document) {
      if (document.revision().isEmpty()) {
        return revisions.branches(tx, document.id());
      }
      return revisions
          .branch(tx, document.id(), false, document.revision().get())
          .thenCompose(
              leaf ->
                  leaf.isPresent()
                      ? CompletableFuture.completedFuture(List.of(leaf.get()))
                      : revisions.branches(tx, document.id()));
    }

    private BulkGetResult result(
        BulkGetRequest request, CompletableFuture<List<EditBranch>> branches) {
      if (request instanceof BulkGetRequest.Document document) {
        return result(document, Awaiting.await(branches));
      }
      return new BulkGetResult.Failed(((BulkGetRequest.Refused) request).error());
    }

    private BulkGetResult result(BulkGetRequest.Document document, List<EditBranch> branches) {
      List<EditBranch> leaves = leaves(document, branches);
      if (!leaves.isEmpty()) {
        return new BulkGetResult.Leaves(document.id(), leaves, document.known());
      }
      return document
          .revision()
          .<BulkGetResult>map(revision -> new BulkGetResult.Missing(document.id(), revision))
          .orElseGet(() -> new BulkGetResult.Failed(BulkGetError.missing(document.id())));
    }

    /** Returns the winner first, deleted leaves last. */
    private List<EditBranch> leaves(BulkGetRequest.Document document, List<EditBranch> branches) {
      if (document.revision().isEmpty()) {
        return branches;
      }
      RevisionId wanted = document.revision().get();
      return branches.stream()
          .filter(branch -> latest ? branch.contains(wanted) : branch.leaf().equals(wanted))
          .toList();
    }
  }

  /** One element of {@code docs}: a requested document, or what is wrong with the element. */
  sealed interface BulkGetRequest {
    String KNOWN = "atts_since";

    /**
     * @param revision empty for all leaves
     * @param known {@code atts_since}: revisions whose attachments the client has
     */
    record Document(String id, Optional<RevisionId> revision, List<RevisionId> known)
        implements BulkGetRequest {}

    record Refused(BulkGetError error) implements BulkGetRequest {}

    static BulkGetRequest parse(JsonValue element) {
      if (!(element instanceof JsonValue.JsonObject request) || request.members().isEmpty()) {
        return refused(new JsonValue.JsonNull(), "bad_request", "document must be a JSON object");
      }
      Optional<JsonValue> id = request.get("id");
      if (id.isEmpty()) {
        return refused(new JsonValue.JsonNull(), "bad_request", "document id missed");
      }
      if (!(id.get() instanceof JsonValue.JsonString text)) {
        return refused(id.get(), "illegal_docid", "Document id must be a string");
      }
      return document(text, request);
    }

    private static BulkGetRequest document(JsonValue.JsonString id, JsonValue.JsonObject request) {
      try {
        DocumentId.check(id.value(), DocumentId.DEFAULT_MAX_BYTES);
      } catch (LectusException illegal) {
        return refused(id, illegal.error());
      }
      List<RevisionId> revisions = new ArrayList<>();
      for (JsonValue revision : named(request)) {
        try {
          revisions.add(RequestJson.revision(revision));
        } catch (LectusException invalid) {
          LectusError error = invalid.error();
          return new Refused(new BulkGetError(id, revision, error.error(), error.reason()));
        }
      }
      return document(id, request, revisions);
    }

    /** Returns the revision that is asked for, if there is one, and those of {@code atts_since}. */
    private static List<JsonValue> named(JsonValue.JsonObject request) {
      List<JsonValue> all = new ArrayList<>();
      request.get("rev").ifPresent(all::add);
      if (request.get(KNOWN).orElse(null) instanceof JsonValue.JsonArray known) {
        all.addAll(known.elements());
      }
      return all;
    }

    private static BulkGetRequest document(
        JsonValue.JsonString id, JsonValue.JsonObject request, List<RevisionId> named) {
      Optional<JsonValue> known = request.get(KNOWN);
      if (known.isPresent() && !(known.get() instanceof JsonValue.JsonArray)) {
        return new Refused(
            new BulkGetError(
                id, known.get(), "bad_request", "att_since value must be array of revs."));
      }
      int asked = request.get("rev").isPresent() ? 1 : 0;
      return new Document(
          id.value(), named.stream().limit(asked).findFirst(), named.subList(asked, named.size()));
    }

    /** Refuses an id without a partition if the database is partitioned. */
    default BulkGetRequest checkedFor(DatabaseHandle db) {
      if (!(this instanceof Document document)) {
        return this;
      }
      return DocumentId.problem(db, document.id())
          .map(problem -> refused(new JsonValue.JsonString(document.id()), problem))
          .orElse(this);
    }

    private static BulkGetRequest refused(JsonValue id, LectusError error) {
      return refused(id, error.error(), error.reason());
    }

    private static BulkGetRequest refused(JsonValue id, String error, String reason) {
      return new Refused(BulkGetError.invalid(id, error, reason));
    }
  }

  /**
   * The reason why an element of {@code docs} yields no document.
   *
   * @param id as sent; null if there is none
   * @param revision as sent, or what CouchDB says in its place
   */
  public record BulkGetError(JsonValue id, JsonValue revision, String error, String reason) {
    /** What CouchDB returns as the revision when all leaves of a missing document are requested. */
    private static final String NO_REVISION = "undefined";

    static BulkGetError missing(String id, RevisionId revision) {
      return missing(id, revision.toString());
    }

    static BulkGetError missing(String id) {
      return missing(id, NO_REVISION);
    }

    private static BulkGetError missing(String id, String revision) {
      return new BulkGetError(new JsonString(id), new JsonString(revision), "not_found", "missing");
    }

    static BulkGetError invalid(JsonValue id, String error, String reason) {
      return new BulkGetError(id, new JsonNull(), error, reason);
    }

    /** Appends {@code {"rev":"9-abc","reason":"missing","id":"a","error":"not_found"}}. */
    public JsonBuffer appendTo(JsonBuffer out) {
      revision.writeTo(out.ascii("{\"rev\":"));
      id.writeTo(out.ascii(",\"reason\":").string(reason).ascii(",\"id\":"));
      return out.ascii(",\"error\":").string(error).octet('}');
    }
  }
}
