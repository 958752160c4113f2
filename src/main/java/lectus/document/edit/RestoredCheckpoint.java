package lectus.document.edit;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;

/**
 * Checkpoints of replications in a database that is restored. A client that replicated while the
 * backup was made has gone on since, in the same session. Replicators take a session that both ends
 * name for one in which nothing is missing, so what the client wrote after the backup would stay
 * lost. A restored checkpoint therefore names that session apart, and no session of this name is
 * taken any more: the client begins another one, behind the last session before it.
 */
public final class RestoredCheckpoint {
  private static final String SESSION = "session_id";
  private static final String HISTORY = "history";
  private static final String OVER = "restored_session";

  private RestoredCheckpoint() {}

  /** Whether a local document is a checkpoint of a replicator, be it CouchDB's or PouchDB's. */
  public static boolean isCheckpoint(JsonObject document) {
    boolean isOne = document.get(SESSION).isPresent() || document.get(OVER).isPresent();
    return isOne && document.get(HISTORY).orElse(null) instanceof JsonArray;
  }

  /** Returns the JSON of a local document as it is restored. */
  public static byte[] of(byte[] json) {
    return names(json, SESSION)
            && JsonValue.parse(json) instanceof JsonObject document
            && isCheckpoint(document)
            && document.get(SESSION).isPresent()
        ? without(document.get(SESSION).get(), document).toBytes()
        : json;
  }

  private static JsonObject without(JsonValue session, JsonObject document) {
    List<JsonValue> before =
        new ArrayList<>(((JsonArray) document.get(HISTORY).orElseThrow()).elements());
    before.removeIf(it -> session(it).equals(Optional.of(session)));
    Map<String, JsonValue> members = new LinkedHashMap<>(document.members());
    members.remove(SESSION);
    members.put(HISTORY, new JsonArray(before));
    members.put(OVER, session);
    return new JsonObject(members);
  }

  /**
   * @param json a local document that a client writes
   * @throws LectusException {@code precondition_failed}: its session is over
   */
  public static void check(byte[] json) {
    if (names(json, OVER)
        && JsonValue.parse(json) instanceof JsonObject document
        && document.get(OVER).isPresent()
        && document.get(OVER).equals(session(document))) {
      throw new LectusException(
          new LectusError.PreconditionFailed(
              "precondition_failed",
              "The database was restored since this session began; another one goes on."));
    }
  }

  private static Optional<JsonValue> session(JsonValue of) {
    return of instanceof JsonObject it ? it.get(SESSION) : Optional.empty();
  }

  /** Most local documents need not be parsed for this. */
  private static boolean names(byte[] json, String member) {
    return new String(json, StandardCharsets.ISO_8859_1).contains(member);
  }
}
