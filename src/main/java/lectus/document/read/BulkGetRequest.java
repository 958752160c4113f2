package lectus.document.read;

import java.util.ArrayList;
import java.util.List;
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
  String KNOWN = "atts_since";

  /**
   * @param revision empty for all leaves
   * @param known {@code atts_since}: revisions whose attachments the client has
   */
  record Document(String id, Optional<RevisionId> revision, List<RevisionId> known)
      implements BulkGetRequest {}

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
    return document(text, request);
  }

  private static BulkGetRequest document(JsonValue.JsonString id, JsonValue.JsonObject request) {
    try {
      DocumentId.check(id.value(), DocumentId.DEFAULT_MAX_BYTES);
    } catch (LectusException illegal) {
      return refused(id, illegal.error());
    }
    List<RevisionId> revisions = new ArrayList<>();
    for (JsonValue revision : named(request)) {
      try {
        revisions.add(RequestJson.revision(revision));
      } catch (LectusException invalid) {
        LectusError error = invalid.error();
        return new Refused(new BulkGetError(id, revision, error.error(), error.reason()));
      }
    }
    return document(id, request, revisions);
  }

  /** Returns the revision that is asked for, if there is one, and those of {@code atts_since}. */
  private static List<JsonValue> named(JsonValue.JsonObject request) {
    List<JsonValue> all = new ArrayList<>();
    request.get("rev").ifPresent(all::add);
    if (request.get(KNOWN).orElse(null) instanceof JsonValue.JsonArray known) {
      all.addAll(known.elements());
    }
    return all;
  }

  private static BulkGetRequest document(
      JsonValue.JsonString id, JsonValue.JsonObject request, List<RevisionId> named) {
    Optional<JsonValue> known = request.get(KNOWN);
    if (known.isPresent() && !(known.get() instanceof JsonValue.JsonArray)) {
      return new Refused(
          new BulkGetError(
              id, known.get(), "bad_request", "att_since value must be array of revs."));
    }
    int asked = request.get("rev").isPresent() ? 1 : 0;
    return new Document(
        id.value(), named.stream().limit(asked).findFirst(), named.subList(asked, named.size()));
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
