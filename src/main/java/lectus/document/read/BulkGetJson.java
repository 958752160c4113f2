package lectus.document.read;

import java.util.List;
import lectus.document.read.BulkGet.BulkGetError;
import lectus.document.read.BulkGetForm.BulkGetResult;
import lectus.document.read.PartWriter.Piece;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonString;
import lectus.revision.EditBranch;

/** {@code {"results":[{"id":"a","docs":[{"ok":{…}}]},…]}} and a line feed. */
public record BulkGetJson() implements BulkGetForm {
  private static final Piece.Frame OK = Piece.Frame.of("{\"ok\":", "}");
  private static final Piece SEPARATOR = Piece.text(",");
  private static final Piece CLOSING = Piece.text("]}");

  @Override
  public String head() {
    return "{\"results\":[";
  }

  @Override
  public void add(BulkGetResult result, boolean first, List<Piece> pieces) {
    if (!first) {
      pieces.add(SEPARATOR);
    }
    if (result instanceof BulkGetResult.Leaves found) {
      pieces.add(opening(new JsonString(found.id())));
      addLeaves(found, pieces);
    } else if (result instanceof BulkGetResult.Missing missing) {
      addError(missing.error(), pieces);
    } else if (result instanceof BulkGetResult.Failed failed) {
      addError(failed.error(), pieces);
    }
    pieces.add(CLOSING);
  }

  private static void addLeaves(BulkGetResult.Leaves found, List<Piece> pieces) {
    boolean first = true;
    for (EditBranch leaf : found.leaves()) {
      if (!first) {
        pieces.add(SEPARATOR);
      }
      byte[] ifGone = json(BulkGetError.missing(found.id(), leaf.leaf()));
      pieces.add(new Piece.Leaf(found.id(), leaf, found.known(), OK, ifGone));
      first = false;
    }
  }

  private static void addError(BulkGetError error, List<Piece> pieces) {
    pieces.add(opening(error.id()));
    pieces.add(new Piece.Text(json(error)));
  }

  private static Piece opening(JsonValue id) {
    JsonBuffer out = new JsonBuffer(64);
    id.writeTo(out.ascii("{\"id\":"));
    return new Piece.Text(out.ascii(",\"docs\":[").toBytes());
  }

  private static byte[] json(BulkGetError error) {
    return error.appendTo(new JsonBuffer(128).ascii("{\"error\":")).octet('}').toBytes();
  }

  @Override
  public String end(boolean empty) {
    return "]}\n";
  }
}
