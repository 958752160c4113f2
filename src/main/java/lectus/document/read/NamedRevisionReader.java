package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseHandle;
import lectus.document.body.AttachmentJson;
import lectus.document.body.AttachmentsShown;
import lectus.document.body.DocumentJson;
import lectus.document.body.FollowingAttachments;
import lectus.document.body.StoredBody;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Reads a document at a revision named by the client. */
final class NamedRevisionReader {
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
