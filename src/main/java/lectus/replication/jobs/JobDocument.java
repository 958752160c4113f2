package lectus.replication.jobs;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.account.ReplicatorDocuments;
import lectus.attachment.Digests;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** A document that describes a replication, with what CouchDB's replicator notes in it. */
public record JobDocument(JsonObject members) {
  static final String STATE = "_replication_state";
  static final String STATE_TIME = "_replication_state_time";
  static final String REASON = "_replication_state_reason";
  static final String ID = "_replication_id";
  static final String STATISTICS = "_replication_stats";

  private static final String START_TIME = "start_time";
  private static final String COMPLETED = "completed";
  private static final String FAILED = "failed";
  private static final Set<String> NOTES = Set.of(STATE, STATE_TIME, REASON, ID, STATISTICS);

  private boolean isIn(String state) {
    return members.textOf(STATE).filter(state::equals).isPresent();
  }

  /** Whether its replication has come to an end, for good or ill. */
  public boolean isOver() {
    return isIn(COMPLETED) || isIn(FAILED);
  }

  /** Returns a digest of what describes the replication. */
  String digest() {
    Map<String, JsonValue> described = new LinkedHashMap<>(members.members());
    described.keySet().removeAll(NOTES);
    described.remove("_rev");
    return HexFormat.of().formatHex(Digests.md5().digest(new JsonObject(described).toBytes()));
  }

  /** Returns who is shown as the replication's user. */
  Optional<String> userName() {
    return ReplicatorDocuments.userOf(members)
        .flatMap(UserContext::name)
        .or(() -> ReplicatorDocuments.ownerOf(members));
  }

  /** Returns it as {@code _scheduler/docs} shows a document that is no job of any server. */
  public JsonObject shown(DatabaseName database, String id) {
    Map<String, JsonValue> shown = new LinkedHashMap<>();
    shown.put("database", new JsonString(database.text()));
    shown.put("doc_id", new JsonString(id));
    shown.put("id", new JsonNull());
    shown.put("source", end("source"));
    shown.put("target", end("target"));
    JsonValue time = members.get(STATE_TIME).orElseGet(JsonNull::new);
    if (isIn(COMPLETED)) {
      Map<String, JsonValue> info = new LinkedHashMap<>();
      if (members.get(STATISTICS).orElse(null) instanceof JsonObject statistics) {
        info.putAll(statistics.members());
      }
      JsonValue began = info.remove(START_TIME);
      add(shown, COMPLETED, 0, new JsonObject(info), began == null ? new JsonNull() : began);
    } else if (isIn(FAILED)) {
      Map<String, JsonValue> info = new LinkedHashMap<>();
      members.get(REASON).ifPresent(reason -> info.put("error", reason));
      add(shown, FAILED, 1, info.isEmpty() ? new JsonNull() : new JsonObject(info), time);
    } else {
      add(shown, "initializing", 0, new JsonNull(), new JsonNull());
    }
    shown.put("last_updated", time);
    return new JsonObject(shown);
  }

  private static void add(
      Map<String, JsonValue> shown, String state, int errors, JsonValue info, JsonValue began) {
    shown.put("state", new JsonString(state));
    shown.put("error_count", new JsonNumber(Integer.toString(errors)));
    shown.put("info", info);
    shown.put(START_TIME, began);
  }

  private JsonValue end(String name) {
    JsonValue end = members.get(name).orElseGet(JsonNull::new);
    JsonValue url = end instanceof JsonObject object ? object.get("url").orElse(end) : end;
    return url instanceof JsonString text
        ? new JsonString(ReplicatorDocuments.withoutCredentials(text.value()))
        : new JsonNull();
  }
}
