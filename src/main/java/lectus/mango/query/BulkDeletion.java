package lectus.mango.query;

import java.util.List;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonString;
import lectus.mango.query.IndexRequest.DesignNames;
import lectus.mango.query.RequestMembers.QueryErrors;

/** A request to remove all indexes of some design documents. */
public final class BulkDeletion {
  /** Maximum number of design documents: more than have indexes. */
  static final int MOST = 1_000;

  private BulkDeletion() {}

  /** Returns the design documents' ids. */
  public static List<String> parse(byte[] body) {
    RequestMembers members = new RequestMembers(RequestJson.object(body));
    JsonValue ids = members.required("docids");
    members.positive("w", 2);
    members.end();
    if (!(ids instanceof JsonArray array)) {
      throw QueryErrors.of(
          "invalid_bulk_docs", "Bulk Delete requires an array of non-null docids. Docids: ", ids);
    }
    if (array.elements().size() > MOST) {
      throw LectusException.badRequest(
          "invalid_bulk_docs", "There are more than " + MOST + " docids.");
    }
    return array.elements().stream().map(BulkDeletion::design).distinct().toList();
  }

  private static String design(JsonValue id) {
    if (id instanceof JsonString text && !text.value().isEmpty()) {
      return DesignNames.idOf(text.value());
    }
    throw QueryErrors.of("invalid_index_name", "Invalid index name: ", id);
  }
}
