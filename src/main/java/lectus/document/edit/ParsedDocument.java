package lectus.document.edit;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;

/** A document as a client sent it, before the kind of edit is known. */
record ParsedDocument(
    DocumentIdentity identity, boolean deleted, ExplodedBody body, AttachmentEdits attachments)
    implements DocumentReading {

  /** Memory of the document, its edit and its outcome, without the leaves, in bytes. */
  static final int MEMORY_BYTES = 512;

  @Override
  public long memoryBytes() {
    return MEMORY_BYTES + body.memoryBytes() + attachments.memoryBytes();
  }

  @Override
  public ParsedDocument parsed() {
    return this;
  }

  /** Returns an edit without a base, whatever the document says. */
  InteractiveEdit first(String id) {
    return new InteractiveEdit(id, Optional.empty(), deleted, body).withAttachments(attachments);
  }

  /**
   * @param beside the base revision as given outside the body
   */
  InteractiveEdit interactive(String id, NamedRevisions beside) {
    Optional<RevisionId> own = identity.path().map(RevisionPath::leaf);
    return new InteractiveEdit(id, beside.agreed(own, RevisionId::of), deleted, body)
        .withAttachments(attachments);
  }

  /**
   * @param beside the revision as given outside the body
   */
  ReplicatedEdit replicated(String id, NamedRevisions beside) {
    Optional<RevisionPath> own = identity.path();
    Optional<RevisionId> leaf = beside.agreed(own.map(RevisionPath::leaf), RevisionId::of);
    RevisionPath path =
        own.or(() -> leaf.map(RevisionPath::of)).orElseThrow(ParsedDocument::needsRevision);
    return new ReplicatedEdit(id, path, deleted, body).withAttachments(attachments);
  }

  /**
   * @param beside the revision as given outside the body
   */
  LocalEdit local(String id, NamedRevisions beside) {
    Optional<String> given = beside.agreed(identity.localRevision(), text -> text);
    return LocalEdit.over(given.orElse(LocalEdit.NO_REVISION), id, deleted, body);
  }

  /** Refuses a document without a revision, as for replicated documents. */
  LocalEdit replicatedLocal(String id, NamedRevisions beside) {
    if (beside.isEmpty() && !identity.namesRevision()) {
      throw needsRevision();
    }
    return local(id, beside);
  }

  static LectusException needsRevision() {
    return LectusException.badRequest(
        "When `new_edits: false`, the document needs `_rev` or `_revisions` specified");
  }
}
