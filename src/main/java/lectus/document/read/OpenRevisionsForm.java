package lectus.document.read;

import java.util.List;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** How the answer to {@code open_revs} is written down. */
public interface OpenRevisionsForm {
  /**
   * The whole answer: first what was found, then what is missing, each in the order given.
   *
   * @param found leaves of the document
   */
  List<Piece> pieces(String id, List<EditBranch> found, List<RevisionId> missing);
}
