package lectus.document.read;

import java.util.List;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** The format of an answer to {@code open_revs}. */
public interface OpenRevisionsForm {
  /**
   * Returns the whole answer: found leaves, then missing revisions, each in the order given.
   *
   * @param found leaves of the document
   */
  List<Piece> pieces(String id, List<EditBranch> found, List<RevisionId> missing);
}
