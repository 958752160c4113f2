package lectus.document.edit;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;

/** A document as a client wrote it, before it is said what it is an edit of. */
record ParsedDocument(DocumentIdentity identity, boolean deleted, ExplodedBody body)
    implements DocumentReading {

  /** The document, the edit that becomes of it, and what is answered, without the leaves. */
  static final int MEMORY_BYTES = 512;

  @Override
  public long memoryBytes() {
    return MEMORY_BYTES + body.memoryBytes();
  }

  @Override
  public ParsedDocument parsed() {
    return this;
  }

  /** An edit of what has no revision yet, whatever the document says. */
  DocumentEdit first(String id) {
    return new DocumentEdit(id, Optional.empty(), deleted, body);
  }

  /**
   * @param beside the base as the request has it beside the body
   */
  DocumentEdit interactive(String id, NamedRevisions beside) {
    Optional<RevisionId> own = identity.path().map(RevisionPath::leaf);
    return new DocumentEdit(id, beside.agreed(own, RevisionId::of), deleted, body);
  }

  /**
   * @param beside the revision as the request has it beside the body
   */
  ReplicatedEdit replicated(String id, NamedRevisions beside) {
    Optional<RevisionPath> own = identity.path();
    Optional<RevisionId> leaf = beside.agreed(own.map(RevisionPath::leaf), RevisionId::of);
    RevisionPath path =
        own.or(() -> leaf.map(RevisionPath::of)).orElseThrow(ParsedDocument::needsRevision);
    return new ReplicatedEdit(id, path, deleted, body);
  }

  /**
   * @param beside the revision as the request has it beside the body
   */
  LocalEdit local(String id, NamedRevisions beside) {
    Optional<String> given = beside.agreed(identity.localRevision(), text -> text);
    return LocalEdit.over(given.orElse(LocalEdit.NO_REVISION), id, deleted, body);
  }

  /** As one of replicated documents: what has no revision is refused. */
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
