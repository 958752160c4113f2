package lectus.document.write;

import java.util.List;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.revision.RevisionId;

/** The outcome of one edit. */
public sealed interface EditOutcome {
  String id();

  /** The edit is stored as {@code revision}. */
  record Written(String id, RevisionId revision) implements EditOutcome {}

  /** A replicated edit whose revision was already stored. */
  record Unchanged(String id, RevisionId revision) implements EditOutcome {}

  /**
   * Nothing of the edit is stored. A deletion whose base is not a live leaf is also a conflict;
   * only a read can tell whether the document is missing, deleted or edited since.
   *
   * @param revision the revision that could not be stored; empty for an interactive edit
   */
  record Failed(String id, Optional<RevisionId> revision, LectusError error)
      implements EditOutcome {}

  /**
   * Leaves are purged.
   *
   * @param revisions those that were there; perhaps none
   */
  record Purged(String id, List<RevisionId> revisions) implements EditOutcome {}

  /**
   * Nothing is stored yet: functions have to judge the edit, then it is to be made again.
   *
   * @param question empty if the edit waits for an earlier one of the same document
   */
  record Unjudged(String id, Optional<Judge.Question> question) implements EditOutcome {}

  /** Nothing is stored, because another edit of the same atomic request failed. */
  record Withheld(String id) implements EditOutcome {}
}
