package lectus.document.read;

import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonString;
import lectus.revision.RevisionId;

/**
 * The reason why an element of {@code docs} yields no document.
 *
 * @param id as sent; null if there is none
 * @param revision as sent, or what CouchDB says in its place
 */
public record BulkGetError(JsonValue id, JsonValue revision, String error, String reason) {
  /** What CouchDB returns as the revision when all leaves of a missing document are requested. */
  private static final String NO_REVISION = "undefined";

  static BulkGetError missing(String id, RevisionId revision) {
    return missing(id, revision.toString());
  }

  static BulkGetError missing(String id) {
    return missing(id, NO_REVISION);
  }

  private static BulkGetError missing(String id, String revision) {
    return new BulkGetError(new JsonString(id), new JsonString(revision), "not_found", "missing");
  }

  static BulkGetError invalid(JsonValue id, String error, String reason) {
    return new BulkGetError(id, new JsonNull(), error, reason);
  }

  /** Appends {@code {"rev":"9-abc","reason":"missing","id":"a","error":"not_found"}}. */
  public JsonBuffer appendTo(JsonBuffer out) {
    revision.writeTo(out.ascii("{\"rev\":"));
    id.writeTo(out.ascii(",\"reason\":").string(reason).ascii(",\"id\":"));
    return out.ascii(",\"error\":").string(error).octet('}');
  }
}
