package lectus.replication;

import java.util.Optional;
import lectus.json.JsonValue.JsonObject;

/** A database at one end of a replication, which keeps the replication's checkpoints. */
public interface Endpoint {
  /** Returns how it is shown to people: its name, or its URL without a password. */
  String shown();

  /**
   * Returns what CouchDB tells of a database.
   *
   * @throws ReplicationFailure it cannot be opened
   */
  JsonObject info();

  /**
   * Returns a local document.
   *
   * @param id without {@code _local/}
   */
  Optional<JsonObject> local(String id);

  /**
   * Stores a local document.
   *
   * @param body with the {@code _rev} that it replaces, if there is one
   * @return its revision
   * @throws ReplicationFailure it has another revision, among others
   */
  String save(String id, JsonObject body);

  /**
   * Makes durable what is written.
   *
   * @return since when this database has been there, CouchDB's {@code instance_start_time}; empty
   *     if it does not say so
   */
  Optional<String> commit();
}
