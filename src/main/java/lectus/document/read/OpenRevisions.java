package lectus.document.read;

import java.util.List;
import java.util.Optional;
import lectus.document.AttachmentsShown;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;

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
}
