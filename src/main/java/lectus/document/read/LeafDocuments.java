package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.AttachmentJson;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentJson;
import lectus.document.StoredBody;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/** Reads documents at known leaves, many at a time, in one transaction. */
public final class LeafDocuments {
  /** As many as CouchDB shows. */
  private static final int REVISIONS_FOR_FUNCTIONS = 20;

  private final ReadTransaction tx;
  private final Bodies bodies;
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
    this.projection = fields.isEmpty() ? Optional.empty() : Optional.of(new Projection(fields));
  }

  /** A document whose body is being read. */
  public static final class Started {
    private final String id;
    private final boolean deleted;
    private final RevisionId leaf;
    private final CompletableFuture<StoredBody> body;

    private Started(
        String id, boolean deleted, RevisionId leaf, CompletableFuture<StoredBody> body) {
      this.id = id;
      this.deleted = deleted;
      this.leaf = leaf;
      this.body = body;
    }
  }

  public Started start(String id, boolean deleted, RevisionId leaf) {
    CompletableFuture<StoredBody> body =
        projection.isEmpty()
            ? bodies.of(tx, id, deleted, leaf)
            : projection.get().read(tx, bodies, id, deleted, leaf);
    return new Started(id, deleted, leaf, body);
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
