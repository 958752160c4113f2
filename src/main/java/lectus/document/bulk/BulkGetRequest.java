package lectus.document.bulk;

import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentId;
import lectus.document.PartitionedId;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;

/** One element of {@code docs}: a requested document, or what is wrong with the element. */
sealed interface BulkGetRequest {
  /**
   * @param revision empty for all leaves
   */
  record Document(String id, Optional<RevisionId> revision) implements BulkGetRequest {}

  record Refused(BulkGetError error) implements BulkGetRequest {}

  static BulkGetRequest parse(JsonValue element) {
    if (!(element instanceof JsonValue.JsonObject request) || request.members().isEmpty()) {
      return refused(new JsonValue.JsonNull(), "bad_request", "document must be a JSON object");
    }
    Optional<JsonValue> id = request.get("id");
    if (id.isEmpty()) {
      return refused(new JsonValue.JsonNull(), "bad_request", "document id missed");
    }
    if (!(id.get() instanceof JsonValue.JsonString text)) {
      return refused(id.get(), "illegal_docid", "Document id must be a string");
    }
    return document(text, request.get("rev"));
  }

  private static BulkGetRequest document(JsonValue.JsonString id, Optional<JsonValue> revision) {
    try {
      DocumentId.check(id.value(), DocumentId.DEFAULT_MAX_BYTES);
    } catch (LectusException illegal) {
      return refused(id, illegal.error());
    }
    try {
      return new Document(id.value(), revision.map(RequestJson::revision));
    } catch (LectusException invalid) {
      LectusError error = invalid.error();
      return new Refused(
          new BulkGetError(id, revision.orElseThrow(), error.error(), error.reason()));
    }
  }

  /** Refuses an id without a partition if the database is partitioned. */
  default BulkGetRequest checkedFor(DatabaseHandle db) {
    if (!(this instanceof Document document)) {
      return this;
    }
    return PartitionedId.problem(db, document.id())
        .map(problem -> refused(new JsonValue.JsonString(document.id()), problem))
        .orElse(this);
  }

  private static BulkGetRequest refused(JsonValue id, LectusError error) {
    return refused(id, error.error(), error.reason());
  }

  private static BulkGetRequest refused(JsonValue id, String error, String reason) {
    return new Refused(BulkGetError.invalid(id, error, reason));
  }
}
