package lectus.document.bulk;

import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentId;
import lectus.document.PartitionedId;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;

/** One element of {@code docs}: a document, or what is wrong with the element. */
sealed interface BulkGetRequest {
  /**
   * @param revision empty for all leaves
   */
  record Document(String id, Optional<RevisionId> revision) implements BulkGetRequest {}

  /**
   * @param id JSON
   * @param answer the element of {@code docs} that stands for it, JSON
   */
  record Refused(byte[] id, byte[] answer) implements BulkGetRequest {}

  static BulkGetRequest parse(JsonValue.JsonObject request) {
    Optional<JsonValue> id = request.get("id");
    JsonValue nothing = new JsonValue.JsonNull();
    if (id.isEmpty()) {
      return refused(nothing, nothing, "bad_request", "document id missed");
    }
    if (!(id.get() instanceof JsonValue.JsonString text)) {
      return refused(id.get(), nothing, "illegal_docid", "Document id must be a string");
    }
    try {
      DocumentId.check(text.value(), DocumentId.DEFAULT_MAX_BYTES);
    } catch (LectusException illegal) {
      return refused(text, nothing, illegal.error().error(), illegal.error().reason());
    }
    Optional<JsonValue> revision = request.get("rev");
    try {
      return new Document(text.value(), revision.map(RequestJson::revision));
    } catch (LectusException invalid) {
      return refused(
          text, revision.orElseThrow(), invalid.error().error(), invalid.error().reason());
    }
  }

  /** Refused where the database is partitioned and the id names no partition. */
  default BulkGetRequest checkedFor(DatabaseHandle db) {
    Optional<LectusError> problem =
        this instanceof Document document
            ? PartitionedId.problem(db, document.id())
            : Optional.empty();
    return problem
        .<BulkGetRequest>map(
            it ->
                refused(
                    new JsonValue.JsonString(((Document) this).id()),
                    new JsonValue.JsonNull(),
                    it.error(),
                    it.reason()))
        .orElse(this);
  }

  private static Refused refused(JsonValue id, JsonValue revision, String error, String reason) {
    JsonBuffer idJson = new JsonBuffer(64);
    id.writeTo(idJson);
    return new Refused(idJson.toBytes(), error(id, revision, error, reason));
  }

  /** {@code {"error":{"rev":"9-abc","reason":"missing","id":"a","error":"not_found"}}}. */
  static byte[] error(JsonValue id, JsonValue revision, String error, String reason) {
    JsonBuffer out = new JsonBuffer(128).ascii("{\"error\":{\"rev\":");
    revision.writeTo(out);
    out.ascii(",\"reason\":").string(reason).ascii(",\"id\":");
    id.writeTo(out);
    return out.ascii(",\"error\":").string(error).ascii("}}").toBytes();
  }
}
