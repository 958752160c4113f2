package lectus.replication;

import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntPredicate;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/** Where documents come from. What it answers has the form of CouchDB's answers. */
public interface Source extends Endpoint {
  /**
   * What is asked for of the changes.
   *
   * @param since behind which position, as the source gave it; 0: from the beginning
   * @param waits whether they come when there is a change. They may also come without one
   * @param withDocuments whether small documents may come with them
   * @param room is asked before the answer takes more memory, with all its bytes
   */
  record Asked(
      JsonValue since, int limit, boolean waits, boolean withDocuments, IntPredicate room) {
    private static final int MAX_BYTES = 32 << 20;

    /** Without a replication, whose memory is counted. */
    static Asked of(JsonValue since, int limit) {
      return new Asked(since, limit, false, false, bytes -> bytes <= MAX_BYTES);
    }

    /** Returns the position as a parameter has it. */
    String position() {
      return ReplicationRequest.text(since);
    }
  }

  /**
   * Returns the changes that a replication has asked for.
   *
   * @return the answer to {@code _changes}; whoever cancels it ends the request
   */
  CompletableFuture<byte[]> changes(Asked asked);

  /**
   * Returns the answer to {@code _bulk_get} with stubs of attachments; empty if it has no such
   * request.
   *
   * @param named whether stubs may name the contents by their SHA-256
   */
  Optional<InputStream> bulkGet(byte[] request, boolean named);

  /**
   * Returns leaves of a document with their attachments.
   *
   * @param revisions that are wanted, or what came after them
   * @param had what need not come
   */
  OpenRevisions open(String id, List<String> revisions, Had had);

  /**
   * What the target has.
   *
   * @param revisions whose attachments it has
   * @param contents digests of attachments that it has
   */
  record Had(List<String> revisions, List<String> contents) {
    static final Had NOTHING = new Had(List.of(), List.of());

    boolean isNothing() {
      return revisions.isEmpty() && contents.isEmpty();
    }
  }

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
