package lectus.document.edit;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;

/**
 * A document as a client wrote it, before it is said what it is an edit of.
 *
 * @param id its {@code _id}
 * @param rev its {@code _rev} as it is written
 * @param revisions its {@code _revisions}, which count before {@code _rev}
 */
record ParsedDocument(
    Optional<String> id,
    Optional<String> rev,
    Optional<RevisionPath> revisions,
    boolean deleted,
    ExplodedBody body) {

  /**
   * @param beside the base as the request has it beside the body
   */
  DocumentEdit interactive(String itsId, Optional<RevisionId> beside) {
    Optional<RevisionId> own = path().map(RevisionPath::leaf);
    checkEqual(own, beside);
    return new DocumentEdit(itsId, own.or(() -> beside), deleted, body);
  }

  /**
   * @param beside the revision as the request has it beside the body
   */
  ReplicatedEdit replicated(String itsId, Optional<RevisionId> beside) {
    Optional<RevisionPath> own = path();
    checkEqual(own.map(RevisionPath::leaf), beside);
    RevisionPath path =
        own.or(() -> beside.map(RevisionPath::of)).orElseThrow(ParsedDocument::needsRevision);
    return new ReplicatedEdit(itsId, path, deleted, body);
  }

  /**
   * @param beside the revision as the request has it beside the body; it counts before the body's
   */
  LocalEdit local(String itsId, Optional<String> beside) {
    String given = beside.or(() -> rev).orElse(LocalEdit.NO_REVISION);
    return LocalEdit.over(given, itsId, deleted, body);
  }

  /** As one of replicated documents: what has no revision is refused. */
  LocalEdit replicatedLocal(String itsId) {
    if (rev.isEmpty()) {
      throw needsRevision();
    }
    return local(itsId, rev);
  }

  private Optional<RevisionPath> path() {
    return revisions.or(() -> rev.map(RevisionId::of).map(RevisionPath::of));
  }

  private static LectusException needsRevision() {
    return LectusException.badRequest(
        "When `new_edits: false`, the document needs `_rev` or `_revisions` specified");
  }

  private static void checkEqual(Optional<RevisionId> own, Optional<RevisionId> beside) {
    if (own.isPresent() && beside.isPresent() && !own.equals(beside)) {
      throw LectusException.badRequest(
          "Document rev from request body and query string have different values");
    }
  }
}
