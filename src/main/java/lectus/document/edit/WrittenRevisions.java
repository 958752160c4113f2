package lectus.document.edit;

import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;

/**
 * A document's {@code _revisions}, as sent. Which positions are legal depends on the id, which may
 * come later: local documents start at 0.
 *
 * @param ids newest first
 */
record WrittenRevisions(long start, List<RevisionHash> ids) {

  /** Returns the revision itself; empty if none is listed. */
  Optional<RevisionId> leaf() {
    return ids.isEmpty() ? Optional.empty() : Optional.of(new RevisionId(start, ids.get(0)));
  }

  /**
   * @throws LectusException {@code doc_validation}: more revisions than positions
   */
  Optional<RevisionPath> path() {
    if (!ids.isEmpty() && start < ids.size()) {
      throw LectusException.badRequest(
          "doc_validation", "_revisions.start is less than the number of _revisions.ids.");
    }
    return leaf().map(leaf -> new RevisionPath(leaf, ids.subList(1, ids.size())));
  }
}
