package lectus.clients.replicator;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The local documents with a replication's checkpoints, one at the source and one at the target.
 * What both agree on counts ({@code couch_replicator_scheduler_job}).
 */
final class ReplicationLogs {
  /** The beginning of a replication without a history. */
  static final String LOWEST_SEQ = "0";

  /** The current version of replication ids. Ids of earlier versions are looked up, too. */
  static final int VERSION = 4;

  private static final int MAX_HISTORY = 50;

  private final RemoteDatabase source;
  private final RemoteDatabase target;
  private ReplicatedDocument sourceLog;
  private ReplicatedDocument targetLog;

  private ReplicationLogs(RemoteDatabase source, RemoteDatabase target) {
    this.source = source;
    this.target = target;
    this.sourceLog = find(source);
    this.targetLog = find(target);
  }

  static ReplicationLogs of(RemoteDatabase source, RemoteDatabase target) {
    return new ReplicationLogs(source, target);
  }

  /**
   * The checkpoint that source and target agree on.
   *
   * @param sequence where to continue
   * @param history entries, the newest first
   */
  record Agreed(String sequence, List<JsonObject> history) {}

  /** Returns the document's id in a version of the naming scheme. */
  static String id(RemoteDatabase source, RemoteDatabase target, int version) {
    try {
      byte[] name = (version + source.url() + target.url()).getBytes(StandardCharsets.UTF_8);
      return "_local/" + HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(name));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Returns the current one; a document found under an earlier id is saved under the current one.
   */
  private ReplicatedDocument find(RemoteDatabase database) {
    String today = id(source, target, VERSION);
    for (int version = VERSION; version > 0; version--) {
      Optional<ReplicatedDocument> found = database.open(id(source, target, version));
      if (found.isPresent() && version < VERSION) {
        return database.saveLocal(ReplicatedDocument.named(today).withBody(found.get().body()));
      } else if (found.isPresent()) {
        return found.get();
      }
    }
    return ReplicatedDocument.named(today);
  }

  /** Compares the two documents and, if they differ, their histories. */
  Agreed agreed() {
    JsonObject there = sourceLog.body();
    JsonObject here = targetLog.body();
    if (Objects.equals(there.getString("session_id"), here.getString("session_id"))) {
      return new Agreed(there.getString("source_last_seq", LOWEST_SEQ), history(there));
    }
    return common(history(there), history(here));
  }

  private static Agreed common(List<JsonObject> source, List<JsonObject> target) {
    if (source.isEmpty() || target.isEmpty()) {
      return new Agreed(LOWEST_SEQ, List.of());
    }
    List<JsonObject> olderSource = source.subList(1, source.size());
    List<JsonObject> olderTarget = target.subList(1, target.size());
    if (has(target, source.get(0))) {
      return new Agreed(source.get(0).getString("recorded_seq"), olderSource);
    } else if (has(olderSource, target.get(0))) {
      return new Agreed(target.get(0).getString("recorded_seq"), olderTarget);
    }
    return common(olderSource, olderTarget);
  }

  private static boolean has(List<JsonObject> history, JsonObject session) {
    String id = session.getString("session_id");
    return history.stream().anyMatch(entry -> entry.getString("session_id").equals(id));
  }

  private static List<JsonObject> history(JsonObject log) {
    JsonArray entries = log.getJsonArray("history", new JsonArray());
    return IntStream.range(0, entries.size()).mapToObj(entries::getJsonObject).toList();
  }

  /**
   * Saves a checkpoint at both ends.
   *
   * @param entry the current session's
   * @param older those of earlier sessions
   */
  void save(JsonObject entry, List<JsonObject> older) {
    JsonArray history = new JsonArray().add(entry);
    older.stream().limit(MAX_HISTORY - 1).forEach(history::add);
    JsonObject body =
        new JsonObject()
            .put("session_id", entry.getString("session_id"))
            .put("source_last_seq", entry.getString("recorded_seq"))
            .put("replication_id_version", VERSION)
            .put("history", history);
    sourceLog = source.saveLocal(sourceLog.withBody(body));
    targetLog = target.saveLocal(targetLog.withBody(body));
  }
}
