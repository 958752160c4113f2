package lectus.document.write;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.document.RequestJson;
import lectus.document.edit.PurgeEdit;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;

/** Reads the body of {@code _purge}: {@code {"id":["1-x",…],…}}. */
public final class PurgeRequest {
  /** More documents or revisions are for several requests; their answer would be a long one. */
  static final int MOST = 10_000;

  private PurgeRequest() {}

  /**
   * Returns an edit for each document. What is no leaf when it is made stays as it is.
   *
   * @throws LectusException {@code bad_request}
   */
  public static List<PurgeEdit> parse(byte[] body) {
    Map<String, JsonValue> members = RequestJson.object(body).members();
    if (members.size() > MOST) {
      throw LectusException.badRequest("Exceeded maximum number of documents.");
    }
    List<PurgeEdit> edits = new ArrayList<>(members.size());
    int revisions = 0;
    for (Map.Entry<String, JsonValue> member : members.entrySet()) {
      if (!(member.getValue() instanceof JsonValue.JsonArray array)) {
        throw LectusException.badRequest("Invalid list of revisions");
      }
      revisions += array.elements().size();
      if (revisions > MOST) {
        throw LectusException.badRequest("Exceeded maximum number of revisions.");
      }
      edits.add(new PurgeEdit(member.getKey(), named(RequestJson.revisions(array))));
    }
    return edits;
  }

  private static PurgeEdit.Leaves named(List<RevisionId> revisions) {
    Set<RevisionId> wanted = new HashSet<>(revisions);
    return branches -> branches.stream().filter(it -> wanted.contains(it.leaf())).toList();
  }
}
