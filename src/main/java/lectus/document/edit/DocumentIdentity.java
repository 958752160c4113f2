package lectus.document.edit;

import java.util.Optional;
import lectus.error.LectusException;
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
}
