package lectus.document.edit;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;

/**
 * How a document identifies itself, as it is written.
 *
 * @param revisions its {@code _revisions}, which count before {@code _rev}
 */
record DocumentIdentity(
    Optional<String> id, Optional<String> rev, Optional<WrittenRevisions> revisions) {

  /** Characters of what the client wrote. */
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

  /** The revision, unless there is none or it cannot be read. */
  Optional<RevisionId> revision() {
    return listed().or(() -> rev.flatMap(RevisionId::parse));
  }

  /** The revision of a local document, {@code 0-3}, not looked at yet. */
  Optional<String> localRevision() {
    return listed().map(RevisionId::toString).or(() -> rev);
  }

  private Optional<RevisionId> listed() {
    return revisions.flatMap(WrittenRevisions::leaf);
  }
}
