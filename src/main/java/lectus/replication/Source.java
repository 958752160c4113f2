package lectus.replication;

import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/** Where documents come from. What it answers has the form of CouchDB's answers. */
public interface Source extends Endpoint {
  /**
   * Returns the changes that a replication has asked for, behind a position.
   *
   * @param since as the source gave it; 0: from the beginning
   * @param waits whether it comes when there is a change. It may also come without one
   * @return the answer to {@code _changes}; whoever cancels it ends the request
   */
  CompletableFuture<byte[]> changes(JsonValue since, int limit, boolean waits);

  /**
   * Returns the answer to {@code _bulk_get} with stubs of attachments; empty if it has no such
   * request.
   */
  Optional<InputStream> bulkGet(byte[] request);

  /**
   * Returns leaves of a document with their attachments.
   *
   * @param revisions that are wanted, or what came after them
   * @param known revisions whose attachments the target has
   */
  OpenRevisions open(String id, List<String> revisions, List<String> known);

  /**
   * Returns a design document; empty if there is none.
   *
   * @param id with {@code _design/}
   */
  Optional<JsonObject> design(String id);

  /**
   * An answer to {@code open_revs}.
   *
   * @param boundary between its parts; empty if it is JSON
   */
  record OpenRevisions(Optional<String> boundary, InputStream body) {}
}
