package lectus.document;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;

/**
 * A document as a client wrote it, before it is said what it is an edit of.
 *
 * @param id its {@code _id}
 * @param revisions its {@code _revisions}, or its {@code _rev} as a path of one
 */
public record ParsedDocument(
    Optional<String> id, Optional<RevisionPath> revisions, boolean deleted, ExplodedBody body) {

  /**
   * @param rev the base as the request has it beside the body
   */
  DocumentEdit interactive(String itsId, Optional<RevisionId> rev) {
    Optional<RevisionId> own = revisions.map(RevisionPath::leaf);
    checkEqual(own, rev);
    return new DocumentEdit(itsId, own.or(() -> rev), deleted, body);
  }

  /**
   * @param rev the revision as the request has it beside the body
   */
  ReplicatedEdit replicated(String itsId, Optional<RevisionId> rev) {
    checkEqual(revisions.map(RevisionPath::leaf), rev);
    RevisionPath path =
        revisions
            .or(() -> rev.map(RevisionPath::of))
            .orElseThrow(
                () ->
                    LectusException.badRequest(
                        "When `new_edits: false`, the document needs `_rev` or `_revisions`"
                            + " specified"));
    return new ReplicatedEdit(itsId, path, deleted, body);
  }

  private static void checkEqual(Optional<RevisionId> own, Optional<RevisionId> rev) {
    if (own.isPresent() && rev.isPresent() && !own.equals(rev)) {
      throw LectusException.badRequest(
          "Document rev from request body and query string have different values");
    }
  }
}
