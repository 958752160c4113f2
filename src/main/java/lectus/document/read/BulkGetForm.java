package lectus.document.read;

import java.util.List;
import lectus.document.read.BulkGet.BulkGetError;
import lectus.document.read.PartWriter.Piece;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** The format of an answer to {@code _bulk_get}. */
public interface BulkGetForm {
  /** Returns the beginning of the answer, ASCII. */
  String head();

  /** Adds the result of one element of {@code docs}. */
  void add(BulkGetResult result, boolean first, List<Piece> pieces);

  /**
   * Returns the end of the answer, ASCII.
   *
   * @param empty whether nothing was requested
   */
  String end(boolean empty);

  /** The result of one element of {@code docs}. */
  sealed interface BulkGetResult {
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
}
