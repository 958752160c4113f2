package lectus.document.read;

import java.util.List;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** The result of one element of {@code docs}. */
public sealed interface BulkGetResult {
  /**
   * @param leaves at least one
   * @param known revisions whose attachments the client has
   */
  record Leaves(String id, List<EditBranch> leaves, List<RevisionId> known)
      implements BulkGetResult {}

  /** A revision that is not a leaf. */
  record Missing(String id, RevisionId revision) implements BulkGetResult {
    public BulkGetError error() {
      return BulkGetError.missing(id, revision);
    }
  }

  /** The element is malformed, or its document was never written. */
  record Failed(BulkGetError error) implements BulkGetResult {}
}
