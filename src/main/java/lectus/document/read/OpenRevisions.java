package lectus.document.read;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.document.AttachmentsShown;
import lectus.document.RequestJson;
import lectus.document.read.DocumentReader.OpenRevisionsForm;
import lectus.document.read.PartWriter.Piece;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;

/**
 * The parameter {@code open_revs}.
 *
 * @param revisions the requested revisions; empty for all leaves
 * @param latest returns the leaves below them instead
 * @param revs adds {@code _revisions} to each document
 */
public record OpenRevisions(
    Optional<List<RevisionId>> revisions,
    boolean latest,
    boolean revs,
    AttachmentsShown attachments) {
  private static final String ALL = "all";

  /**
   * @param parameter {@code all} or a JSON array of revisions
   * @return empty for {@code []}, which asks for the plain document
   * @throws LectusException {@code bad_request}
   */
  public static Optional<OpenRevisions> parse(
      String parameter, boolean latest, boolean revs, AttachmentsShown attachments) {
    if (parameter.equals(ALL)) {
      return Optional.of(new OpenRevisions(Optional.empty(), latest, revs, attachments));
    }
    if (!(RequestJson.ofParameter(parameter) instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("Invalid list of revisions");
    }
    List<RevisionId> revisions = RequestJson.revisions(array);
    return revisions.isEmpty()
        ? Optional.empty()
        : Optional.of(new OpenRevisions(Optional.of(revisions), latest, revs, attachments));
  }

  /** Returns the same, with the bytes of attachments behind each document. */
  public OpenRevisions withFollowing() {
    return new OpenRevisions(revisions, latest, revs, attachments.following());
  }

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
}
