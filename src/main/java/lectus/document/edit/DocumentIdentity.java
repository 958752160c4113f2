package lectus.document.edit;

import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;

/**
 * The members by which a document identifies itself, as sent.
 *
 * @param revisions its {@code _revisions}, which take precedence over {@code _rev}
 */
record DocumentIdentity(
    Optional<String> id, Optional<String> rev, Optional<WrittenRevisions> revisions) {

  /** Returns the number of characters that the client sent. */
  int textLength() {
    return id.map(String::length).orElse(0) + rev.map(String::length).orElse(0);
  }

  boolean namesRevision() {
    return rev.isPresent() || listed().isPresent();
  }

  /**
   * @throws LectusException {@code bad_request}, {@code doc_validation}
   */
  Optional<RevisionPath> path() {
    return revisions
        .flatMap(WrittenRevisions::path)
        .or(() -> rev.map(RevisionId::of).map(RevisionPath::of));
  }

  /** Returns the revision; empty if there is none or it is malformed. */
  Optional<RevisionId> revision() {
    return listed().or(() -> rev.flatMap(RevisionId::parse));
  }

  /** Returns the revision of a local document, such as {@code 0-3}, still unchecked. */
  Optional<String> localRevision() {
    return listed().map(RevisionId::toString).or(() -> rev);
  }

  private Optional<RevisionId> listed() {
    return revisions.flatMap(WrittenRevisions::leaf);
  }

  /**
   * A document's {@code _revisions}, as sent. Which positions are legal depends on the id, which
   * may come later: local documents start at 0.
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
}
