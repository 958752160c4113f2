package lectus.document.bulk;

import java.util.List;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** What an element of {@code docs} brings. */
public sealed interface BulkGetResult {
  /**
   * @param leaves one at least
   */
  record Leaves(String id, List<EditBranch> leaves) implements BulkGetResult {}

  /** A revision that is no leaf. */
  record Missing(String id, RevisionId revision) implements BulkGetResult {
    public BulkGetError error() {
      return BulkGetError.missing(id, revision);
    }
  }

  /** The element cannot be read, or its document has never been written. */
  record Failed(BulkGetError error) implements BulkGetResult {}
}
