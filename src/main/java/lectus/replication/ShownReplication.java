package lectus.replication;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.json.JsonBuffer;

/**
 * A replication as {@code _active_tasks} and {@code _scheduler/jobs} show it, in CouchDB's words.
 *
 * @param id empty while it is not known
 * @param document that describes it, and its database; empty if a client asked for it
 * @param source without a password, and so is the target
 */
public record ShownReplication(
    Optional<String> user,
    Optional<String> id,
    Optional<DatabaseName> database,
    Optional<String> document,
    String source,
    String target) {

  /** What has happened to a replication. */
  public enum EventType {
    ADDED,
    STARTED,
    STOPPED,
    CRASHED
  }

  /**
   * @param reason why it has crashed, else empty
   */
  public record Event(EventType type, Instant at, Optional<String> reason) {}

  /** Returns a time as CouchDB writes it, in whole seconds. */
  public static String text(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private static void append(String name, Optional<String> value, JsonBuffer out) {
    out.octet(',').string(name).octet(':');
    value.ifPresentOrElse(out::string, out::nil);
  }

  private Optional<String> databaseName() {
    return database.map(DatabaseName::text);
  }

  /**
   * Returns the members of a running task, with commas between them.
   *
   * @param figures {@link ReplicationStatistics#append what it has done}; maybe nothing
   */
  public String task(boolean continuous, long checkpointMillis, byte[] figures) {
    JsonBuffer out = new JsonBuffer(512).ascii("\"continuous\":").bool(continuous);
    out.ascii(",\"checkpoint_interval\":").number(checkpointMillis);
    append("user", user, out);
    append("replication_id", id, out);
    append("database", databaseName(), out);
    append("doc_id", document, out);
    append("source", Optional.of(source), out);
    append("target", Optional.of(target), out);
    if (figures.length > 0) {
      out.octet(',').raw(figures);
    }
    return out.toString();
  }

  /**
   * Appends a job.
   *
   * @param pid which clients take for a name; empty if it does not run
   * @param figures as above
   * @param history the latest first
   */
  public void appendJob(
      String node,
      Optional<String> pid,
      byte[] figures,
      Collection<Event> history,
      Instant began,
      JsonBuffer out) {
    out.ascii("{\"database\":");
    databaseName().ifPresentOrElse(out::string, out::nil);
    append("id", id, out);
    append("pid", pid, out);
    append("source", Optional.of(source), out);
    append("target", Optional.of(target), out);
    append("user", user, out);
    append("doc_id", document, out);
    appendInfo(figures, Optional.empty(), out);
    out.ascii(",\"history\":[");
    String separator = "";
    for (Event event : history) {
      out.ascii(separator).ascii("{\"timestamp\":").string(text(event.at()));
      out.ascii(",\"type\":").string(event.type().name().toLowerCase(Locale.ROOT));
      event.reason().ifPresent(reason -> out.ascii(",\"reason\":").string(reason));
      out.octet('}');
      separator = ",";
    }
    out.octet(']');
    append("node", Optional.of(node), out);
    append("start_time", Optional.of(text(began)), out);
    out.octet('}');
  }

  /**
   * Appends the state of a document's replication.
   *
   * @param reason why it does not run, if it has failed
   * @param updated when something happened to it last
   */
  public void appendDocument(
      String node,
      String state,
      byte[] figures,
      Optional<String> reason,
      int errors,
      Instant updated,
      Instant began,
      JsonBuffer out) {
    out.ascii("{\"database\":");
    databaseName().ifPresentOrElse(out::string, out::nil);
    append("doc_id", document, out);
    append("id", id, out);
    append("node", Optional.of(node), out);
    append("source", Optional.of(source), out);
    append("target", Optional.of(target), out);
    append("state", Optional.of(state), out);
    appendInfo(figures, reason, out);
    out.ascii(",\"error_count\":").number(errors);
    append("last_updated", Optional.of(text(updated)), out);
    append("start_time", Optional.of(text(began)), out);
    out.ascii(",\"source_proxy\":null,\"target_proxy\":null}");
  }

  private static void appendInfo(byte[] figures, Optional<String> reason, JsonBuffer out) {
    out.ascii(",\"info\":");
    if (reason.isPresent()) {
      out.ascii("{\"error\":").string(reason.get()).octet('}');
    } else if (figures.length == 0) {
      out.nil();
    } else {
      out.octet('{').raw(figures).octet('}');
    }
  }
}
