package lectus.document.read;

import java.util.ArrayList;
import java.util.List;
import lectus.document.read.DocumentReader.OpenRevisionsForm;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;

/** {@code [{"ok":{…}},{"missing":"9-abc"}]} and a line feed. */
public record OpenRevisionsJson() implements OpenRevisionsForm {
  private static final Piece.Frame OK = Piece.Frame.of("{\"ok\":", "}");
  private static final Piece OPENING = Piece.text("[");
  private static final Piece SEPARATOR = Piece.text(",");
  private static final Piece CLOSING = Piece.text("]\n");

  @Override
  public List<Piece> pieces(String id, List<EditBranch> found, List<RevisionId> missing) {
    List<Piece> all = new ArrayList<>(2 * (found.size() + missing.size()) + 2);
    all.add(OPENING);
    for (EditBranch branch : found) {
      separate(all);
      all.add(new Piece.Leaf(id, branch, OK, missing(branch.leaf())));
    }
    for (RevisionId revision : missing) {
      separate(all);
      all.add(new Piece.Text(missing(revision)));
    }
    all.add(CLOSING);
    return all;
  }

  private static void separate(List<Piece> all) {
    if (all.size() > 1) {
      all.add(SEPARATOR);
    }
  }

  /** Returns {@code {"missing":"9-abc"}}. */
  public static byte[] missing(RevisionId revision) {
    JsonBuffer json = new JsonBuffer(64).ascii("{\"missing\":");
    RevisionText.append(json, revision);
    return json.octet('}').toBytes();
  }
}
