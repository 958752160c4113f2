package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.AttachmentJson;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentJson;
import lectus.document.DocumentsSubspace;
import lectus.document.RevisionMetadata;
import lectus.document.StoredBody;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Reads documents at known leaves, many at a time, in one transaction. */
public final class LeafDocuments {
  /** As many as CouchDB shows. */
  private static final int REVISIONS_FOR_FUNCTIONS = 20;

  private final ReadTransaction tx;
  private final Bodies bodies;
  private final DocumentsSubspace documents;
  private final RevisionsSubspace revisions;
  private final int revsLimit;
  private final Optional<Projection> projection;
  private final AttachmentJson attachments;

  /**
   * @param fields to read and show; empty for whole documents
   * @param attachments how whole documents show them
   */
  public LeafDocuments(
      ReadTransaction tx, DatabaseHandle db, List<FieldPath> fields, AttachmentsShown attachments) {
    this.attachments = new AttachmentJson(attachments);
    this.tx = tx;
    this.bodies = new Bodies(db);
    this.documents = new DocumentsSubspace(db);
    this.revisions = new RevisionsSubspace(db);
    this.revsLimit = db.configuration().revsLimit();
    this.projection = fields.isEmpty() ? Optional.empty() : Optional.of(new Projection(fields));
  }

  /** A document whose body is being read. */
  public record Started(
      String id, boolean deleted, RevisionId leaf, CompletableFuture<StoredBody> body) {}

  public Started start(String id, boolean deleted, RevisionId leaf) {
    CompletableFuture<StoredBody> body =
        projection.isEmpty()
            ? bodies.of(tx, id, deleted, leaf)
            : projection.get().read(tx, bodies, id, deleted, leaf);
    return new Started(id, deleted, leaf, body);
  }

  /**
   * A live leaf of which it is not known yet whether it is small.
   *
   * @param branch with its history; null if it is the first revision
   */
  public record SmallLeaf(
      String id,
      RevisionId leaf,
      byte[] key,
      CompletableFuture<byte[]> row,
      CompletableFuture<Optional<EditBranch>> branch) {}

  /** Begins to read a live leaf that is to be shown if it is small. */
  public SmallLeaf startSmall(String id, RevisionId leaf) {
    byte[] key = documents.revision(id, false, leaf);
    return new SmallLeaf(
        id,
        leaf,
        key,
        tx.get(key),
        leaf.position() == 1 ? null : revisions.branch(tx, id, false, leaf));
  }

  /**
   * Appends a document with its history, as a replicator stores it, if its body is in one row and
   * it has no attachments.
   *
   * @param before comes before the document
   */
  public void appendSmall(SmallLeaf small, byte[] before, JsonBuffer out) {
    byte[] value = Awaiting.await(small.row);
    Optional<EditBranch> branch =
        small.branch == null ? Optional.empty() : Awaiting.await(small.branch);
    if (value == null || (small.branch != null && branch.isEmpty())) {
      return;
    }
    RevisionMetadata metadata = RevisionMetadata.of(value);
    if (!metadata.isInline() || !metadata.attachments().all().isEmpty()) {
      return;
    }
    out.raw(before);
    KeyValue row = new KeyValue(small.key, value);
    StoredBody body = StoredBody.of(List.of(row), small.key.length, false);
    DocumentJson.append(out, small.id, false, small.leaf, body);
    branch.ifPresent(path -> DocumentJson.appendRevisions(out, path, revsLimit));
    DocumentJson.close(out);
  }

  /**
   * Appends the document as JSON.
   *
   * @param branches all of the document's branches, the winner first, for {@code _conflicts}; empty
   *     to omit it
   */
  public void append(Started document, List<EditBranch> branches, JsonBuffer out) {
    StoredBody body = Awaiting.await(document.body);
    if (projection.isPresent()) {
      projection.get().append(out, document.id, document.deleted, document.leaf, body, branches);
      return;
    }
    DocumentJson.append(out, document.id, document.deleted, document.leaf, body);
    DocumentJson.appendConflicts(out, branches);
    attachments.close(out, body.attachments());
  }

  /**
   * Appends a whole document as functions of design documents see it: with its last revisions.
   *
   * @param path to the leaf
   * @param branches as above
   */
  public void appendForFunction(
      Started document, EditBranch path, List<EditBranch> branches, JsonBuffer out) {
    StoredBody body = Awaiting.await(document.body);
    DocumentJson.append(out, document.id, document.deleted, document.leaf, body);
    DocumentJson.appendRevisions(out, path, REVISIONS_FOR_FUNCTIONS);
    DocumentJson.appendConflicts(out, branches);
    attachments.close(out, body.attachments());
  }
}
