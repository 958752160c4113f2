package lectus.http;

import java.util.List;
import lectus.document.read.BulkGet.BulkGetError;
import lectus.document.read.BulkGetForm;
import lectus.document.read.BulkGetForm.BulkGetResult;
import lectus.document.read.PartWriter.Piece;
import lectus.http.Boundary.PartHeader;
import lectus.http.Boundary.RelatedHeader;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;

/**
 * {@code _bulk_get} as {@code multipart/mixed} or {@code multipart/related}: one part for each
 * revision, the delimiter before each. As in CouchDB, the body is empty if nothing was asked for.
 */
public final class MultipartBulkGet implements BulkGetForm {
  private final String beforePart;
  private final Piece.Frame frame;

  public MultipartBulkGet(Boundary boundary) {
    beforePart = "\r\n" + boundary.delimiter();
    frame =
        Piece.Frame.of(beforePart + PartHeader.DOCUMENT, "")
            .orRelated(new RelatedHeader(beforePart, true, Boundary.randomOfBulk()));
  }

  @Override
  public String head() {
    return "";
  }

  @Override
  public void add(BulkGetResult result, boolean first, List<Piece> pieces) {
    if (result instanceof BulkGetResult.Leaves found) {
      for (EditBranch leaf : found.leaves()) {
        pieces.add(new Piece.Leaf(found.id(), leaf, found.known(), frame, missing(leaf.leaf())));
      }
    } else if (result instanceof BulkGetResult.Missing missing) {
      pieces.add(new Piece.Text(missing(missing.revision())));
    } else if (result instanceof BulkGetResult.Failed failed) {
      pieces.add(new Piece.Text(failed(failed.error())));
    }
  }

  /** CouchDB does not name the document here. */
  private byte[] missing(RevisionId revision) {
    JsonBuffer out = errorPart().ascii("{\"rev\":");
    RevisionText.append(out, revision);
    return out.ascii(",\"error\":\"not_found\",\"reason\":\"missing\"}").toBytes();
  }

  private byte[] failed(BulkGetError error) {
    return error.appendTo(errorPart()).toBytes();
  }

  private JsonBuffer errorPart() {
    return new JsonBuffer(256).ascii(beforePart).ascii(PartHeader.ERROR);
  }

  @Override
  public String end(boolean empty) {
    return empty ? "" : beforePart + "--\r\n";
  }
}
