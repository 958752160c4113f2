package lectus.document;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;

/** JSON shapes that several request bodies share. */
public final class RequestJson {
  private RequestJson() {}

  /**
   * @throws LectusException {@code bad_request} when the body is not a JSON object
   */
  public static JsonValue.JsonObject object(byte[] body) {
    if (JsonValue.parse(body) instanceof JsonValue.JsonObject object) {
      return object;
    }
    throw LectusException.badRequest("Request body must be a JSON object");
  }

  /**
   * Returns the elements of a body {@code {"queries":[{…},…]}}.
   *
   * @throws LectusException {@code bad_request}
   */
  public static List<JsonValue.JsonObject> queries(byte[] body) {
    JsonValue queries =
        object(body)
            .get("queries")
            .orElseThrow(
                () -> LectusException.badRequest("POST body must include `queries` parameter."));
    if (!(queries instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("`queries` member must be an array.");
    }
    List<JsonValue.JsonObject> all = new ArrayList<>(array.elements().size());
    for (JsonValue element : array.elements()) {
      if (!(element instanceof JsonValue.JsonObject query)) {
        throw LectusException.badRequest("Elements of `queries` must be JSON objects.");
      }
      all.add(query);
    }
    return all;
  }

  /**
   * Parses a URL parameter whose value is JSON.
   *
   * @throws LectusException {@code bad_request} when it is not JSON
   */
  public static JsonValue ofParameter(String text) {
    try {
      return JsonValue.parse(text.getBytes(StandardCharsets.UTF_8));
    } catch (LectusException invalid) {
      throw LectusException.badRequest("invalid UTF-8 JSON");
    }
  }

  /**
   * @throws LectusException {@code bad_request} when an element is not a revision
   */
  public static List<RevisionId> revisions(JsonValue.JsonArray array) {
    List<RevisionId> revisions = new ArrayList<>(array.elements().size());
    for (JsonValue element : array.elements()) {
      revisions.add(revision(element));
    }
    return revisions;
  }

  public static RevisionId revision(JsonValue json) {
    if (json instanceof JsonValue.JsonString text) {
      return RevisionId.of(text.value());
    }
    throw LectusException.badRequest("Invalid rev format");
  }
}
