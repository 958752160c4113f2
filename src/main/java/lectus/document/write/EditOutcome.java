package lectus.document.write;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.revision.RevisionId;

/** What became of one edit. */
public sealed interface EditOutcome {
  String id();

  /** It is stored as {@code revision}. */
  record Written(String id, RevisionId revision) implements EditOutcome {}

  /** A replicated edit whose revision was there already. */
  record Unchanged(String id, RevisionId revision) implements EditOutcome {}

  /**
   * Nothing of it is stored. Conflict also for a deletion whose base is no live leaf: whether the
   * document is missing, deleted or edited since is for a read to say.
   *
   * @param revision the revision that could not be stored; empty for an interactive edit
   */
  record Failed(String id, Optional<RevisionId> revision, LectusError error)
      implements EditOutcome {}

  /** Nothing of it is stored, because another edit of the same atomic request failed. */
  record Withheld(String id) implements EditOutcome {}
}
