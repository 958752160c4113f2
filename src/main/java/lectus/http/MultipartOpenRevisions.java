package lectus.http;

import java.util.ArrayList;
import java.util.List;
import lectus.document.read.DocumentReader.OpenRevisionsForm;
import lectus.document.read.OpenRevisions.OpenRevisionsJson;
import lectus.document.read.PartWriter.Piece;
import lectus.http.Boundary.PartHeader;
import lectus.http.Boundary.RelatedHeader;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/**
 * {@code open_revs} as {@code multipart/mixed}: one part for each revision, followed by the
 * delimiter. As in CouchDB, no line break follows the last one.
 */
public final class MultipartOpenRevisions implements OpenRevisionsForm {
  private final Piece opening;
  private final Piece.Frame frame;
  private final String behindPart;

  public MultipartOpenRevisions(Boundary boundary) {
    opening = Piece.text(boundary.delimiter());
    behindPart = "\r\n" + boundary.delimiter();
    frame =
        Piece.Frame.of(PartHeader.DOCUMENT, behindPart)
            .orRelated(new RelatedHeader("", false, Boundary.random()));
  }

  @Override
  public List<Piece> pieces(String id, List<EditBranch> found, List<RevisionId> missing) {
    List<Piece> all = new ArrayList<>(found.size() + missing.size() + 2);
    all.add(opening);
    for (EditBranch branch : found) {
      all.add(new Piece.Leaf(id, branch, frame, missing(branch.leaf())));
    }
    for (RevisionId revision : missing) {
      all.add(new Piece.Text(missing(revision)));
    }
    all.add(Piece.text("--"));
    return all;
  }

  private byte[] missing(RevisionId revision) {
    return new JsonBuffer(160)
        .ascii(PartHeader.ERROR)
        .raw(OpenRevisionsJson.missing(revision))
        .ascii(behindPart)
        .toBytes();
  }
}
