package lectus.replication;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import lectus.http.HttpDate;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.ReplicationRequest.Choice;

/**
 * How far a replication is, as both ends keep it in a local document under the replication's id.
 * Each has the sessions of the last times. A session that both know tells how far the target was in
 * it: one of the ends may have been restored from a backup, or have missed a checkpoint. Used by
 * one thread at a time.
 */
public final class Checkpoints {
  static final JsonValue BEGINNING = new JsonNumber("0");

  private static final int MAX_SESSIONS = 50;
  private static final String SESSION = "session_id";
  private static final String HISTORY = "history";
  private static final String REVISION = "_rev";

  private final ReplicationRequest request;
  private final String id;
  private final Side source;
  private final Side target;
  private final String session = UUID.randomUUID().toString().replace("-", "");
  private final Instant begin = Instant.now();
  private final JsonValue since;
  private final List<JsonValue> history;

  private JsonObject last;

  /** One end, and the document that it has. */
  private static final class Side {
    private final String name;
    private final Endpoint end;
    private final Optional<String> life;
    private JsonObject log;

    Side(String name, Endpoint end, JsonObject info, String id, String formerId) {
      this.name = name;
      this.end = end;
      this.life = info.textOf("instance_start_time");
      Optional<JsonObject> known = end.local(id);
      this.log =
          known
              .or(() -> end.local(formerId).map(former -> without(former, REVISION)))
              .orElseGet(() -> new JsonObject(Map.of()));
    }

    List<JsonValue> history() {
      return log.get(HISTORY).orElse(null) instanceof JsonArray all ? all.elements() : List.of();
    }

    void requireSameLife() {
      Optional<String> now = end.commit();
      boolean isOther =
          now.isPresent()
              && life.isPresent()
              && !now.equals(life)
              && !now.get().equals("0")
              && !life.get().equals("0");
      if (isOther) {
        throw ReplicationFailure.passing(
            "checkpoint_commit_failure",
            "instance_start_time on " + name + " database has changed since last checkpoint.");
      }
    }

    /** A checkpoint whose answer was lost is there. */
    void save(String id, JsonObject body) {
      JsonObject whole =
          log.textOf(REVISION).map(rev -> with(body, REVISION, new JsonString(rev))).orElse(body);
      String revision;
      try {
        revision = end.save(id, whole);
      } catch (ReplicationFailure failure) {
        if (failure.status() != ReplicationFailure.CONFLICT) {
          throw failure;
        }
        JsonObject stored = end.local(id).orElseGet(() -> new JsonObject(Map.of()));
        boolean isSame =
            stored.get(SESSION).equals(body.get(SESSION))
                && stored
                    .get(HISTORY)
                    .map(JsonValue::toJson)
                    .equals(body.get(HISTORY).map(JsonValue::toJson));
        if (!isSame) {
          throw ReplicationFailure.passing(
              "checkpoint_commit_failure",
              "Error updating the " + name + " checkpoint document: conflict");
        }
        revision = stored.textOf(REVISION).orElseThrow();
      }
      log = with(body, REVISION, new JsonString(revision));
    }
  }

  Checkpoints(ReplicationRequest request, Source from, Target to, String id, String formerId) {
    this.request = request;
    this.id = id;
    this.source = new Side("source", from, from.info(), id, formerId);
    this.target = new Side("target", to, to.info(), id, formerId);
    this.last = without(without(source.log, REVISION), "_id");
    boolean agree =
        source.log.get(SESSION).isPresent()
            && source.log.get(SESSION).equals(target.log.get(SESSION));
    // The target may be an earlier state of itself, which its own log knows.
    Common common =
        agree
            ? new Common(target.log.get("source_last_seq").orElse(BEGINNING), target.history())
            : Common.of(source.history(), target.history());
    // As in CouchDB, whoever says where to begin is not asked where the last run was.
    this.since =
        request
            .options()
            .place()
            .filter(it -> it.equals(place(it.after())))
            .map(Place::after)
            .or(() -> request.options().since())
            .orElse(common.sequence());
    this.history = common.earlier();
  }

  /**
   * Where a run has ended, which holds for these two databases and no later ones of their names.
   *
   * @param source since when it has been there
   * @param target since when it has been there
   */
  public record Place(JsonValue after, Optional<String> source, Optional<String> target) {}

  /** Returns a place between the two ends. */
  Place place(JsonValue after) {
    return new Place(after, source.life, target.life);
  }

  /**
   * The newest session that both ends know.
   *
   * @param sequence up to which everything was written in it
   * @param earlier sessions before it
   */
  record Common(JsonValue sequence, List<JsonValue> earlier) {
    /** Compares two histories, newest first, as CouchDB does. */
    static Common of(List<JsonValue> source, List<JsonValue> target) {
      for (int i = 0; i < Math.min(source.size(), target.size()); i++) {
        JsonObject ofSource = object(source.get(i));
        JsonObject ofTarget = object(target.get(i));
        if (has(ofSource, target.subList(i, target.size()))) {
          return at(ofSource, source.subList(i + 1, source.size()));
        }
        if (has(ofTarget, source.subList(i + 1, source.size()))) {
          return at(ofTarget, target.subList(i + 1, target.size()));
        }
      }
      return new Common(BEGINNING, List.of());
    }

    private static Common at(JsonObject session, List<JsonValue> earlier) {
      return new Common(session.get("recorded_seq").orElse(BEGINNING), earlier);
    }

    private static boolean has(JsonObject session, List<JsonValue> others) {
      return session.get(SESSION).isPresent()
          && others.stream()
              .anyMatch(other -> object(other).get(SESSION).equals(session.get(SESSION)));
    }

    private static JsonObject object(JsonValue value) {
      return value instanceof JsonObject object ? object : new JsonObject(Map.of());
    }
  }

  JsonValue since() {
    return since;
  }

  Optional<JsonObject> formerSession() {
    return history.isEmpty() ? Optional.empty() : Optional.of(Common.object(history.get(0)));
  }

  /**
   * Notes at both ends that everything up to a sequence is written.
   *
   * @throws ReplicationFailure a database is another one, or others write the document
   */
  void save(JsonValue sequence, ReplicationStatistics statistics) {
    target.requireSameLife();
    source.requireSameLife();
    JsonObject body = body(sequence, statistics);
    source.save(id, body);
    target.save(id, body);
    last = body;
    statistics.hasSaved(sequence);
  }

  private JsonObject body(JsonValue sequence, ReplicationStatistics statistics) {
    String start = HttpDate.format(begin);
    String end = HttpDate.format(Instant.now());
    JsonBuffer entry = new JsonBuffer(512).ascii("{\"session_id\":").string(session);
    entry.ascii(",\"start_time\":").string(start).ascii(",\"end_time\":").string(end);
    since.writeTo(entry.ascii(",\"start_last_seq\":"));
    sequence.writeTo(entry.ascii(",\"end_last_seq\":"));
    sequence.writeTo(entry.ascii(",\"recorded_seq\":"));
    statistics.appendHistory(entry);
    List<JsonValue> sessions = new ArrayList<>();
    sessions.add(JsonValue.parse(entry.octet('}').toBytes()));
    sessions.addAll(history.subList(0, Math.min(history.size(), MAX_SESSIONS - 1)));
    JsonBuffer out = new JsonBuffer(1_024).ascii("{\"session_id\":").string(session);
    sequence.writeTo(out.ascii(",\"source_last_seq\":"));
    out.ascii(",\"replication_id_version\":").number(ReplicationId.VERSION);
    if (request.choice() instanceof Choice.Ids) {
      out.ascii(",\"start_time\":").string(start).ascii(",\"end_time\":").string(end);
      for (String count : List.of("docs_read", "docs_written", "doc_write_failures")) {
        Common.object(sessions.get(0))
            .get(count)
            .orElseThrow()
            .writeTo(out.octet(',').string(count).octet(':'));
      }
    }
    new JsonArray(sessions).writeTo(out.ascii(",\"history\":"));
    return (JsonObject) JsonValue.parse(out.octet('}').toBytes());
  }

  /**
   * Returns what {@code _replicate} tells in the end.
   *
   * @param isUnchanged whether there was no change
   */
  JsonObject result(boolean isUnchanged) {
    Map<String, JsonValue> members = new LinkedHashMap<>();
    members.put("ok", new JsonBool(true));
    if (!request.options().usesCheckpoints()) {
      members.put("use_checkpoints", new JsonBool(false));
      return new JsonObject(members);
    }
    if (isUnchanged) {
      members.put("no_changes", new JsonBool(true));
    }
    members.putAll(last.members());
    return new JsonObject(members);
  }

  private static JsonObject without(JsonObject object, String member) {
    Map<String, JsonValue> members = new LinkedHashMap<>(object.members());
    members.remove(member);
    return new JsonObject(members);
  }

  private static JsonObject with(JsonObject object, String member, JsonValue value) {
    Map<String, JsonValue> members = new LinkedHashMap<>(object.members());
    members.put(member, value);
    return new JsonObject(members);
  }
}
