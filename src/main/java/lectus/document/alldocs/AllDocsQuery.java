package lectus.document.alldocs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.Partition;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * A question to one of the lists of documents.
 *
 * @param keys these rows, in this order, instead of a range
 * @param start where the range begins in the direction of reading
 * @param end where it ends
 * @param skip rows left out
 * @param limit rows at most
 * @param partition only the documents of this one
 */
public record AllDocsQuery(
    Listing listing,
    Optional<List<ListKey>> keys,
    Optional<ListKey> start,
    Optional<ListKey> end,
    boolean inclusiveEnd,
    boolean descending,
    long skip,
    long limit,
    boolean includeDocs,
    boolean conflicts,
    boolean updateSeq,
    Optional<Partition> partition) {

  /** What is listed. */
  public enum Listing {
    /** {@code _all_docs}. */
    ALL,
    /** {@code _design_docs}. */
    DESIGN,
    /** {@code _local_docs}. */
    LOCAL
  }

  /** The whole list without bodies. */
  public static AllDocsQuery all(Listing listing) {
    return parse(listing, Map.of(), null);
  }

  /**
   * A question made of query parameters and, for POST, a JSON object of the same members, which
   * count more. {@code startkey_docid} and {@code endkey_docid} make no difference, because no two
   * rows have one key.
   *
   * @param parameters decoded, by name; unknown ones are ignored
   * @param body the request's; null for GET
   * @throws LectusException {@code query_parse_error}, {@code bad_request}
   */
  public static AllDocsQuery parse(Listing listing, Map<String, String> parameters, byte[] body) {
    Map<String, String> values = new HashMap<>(parameters);
    if (body != null) {
      addMembers(values, RequestJson.object(body));
    }
    return of(listing, new ListParameters(values));
  }

  /**
   * The questions of a body {@code {"queries":[{…},…]}}; parameters hold for all of them.
   *
   * @throws LectusException {@code query_parse_error}, {@code bad_request}
   */
  public static List<AllDocsQuery> parseQueries(
      Listing listing, Map<String, String> parameters, byte[] body) {
    if (!(RequestJson.object(body).get("queries").orElse(null)
        instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("`queries` member must be an array.");
    }
    List<AllDocsQuery> queries = new ArrayList<>(array.elements().size());
    for (JsonValue element : array.elements()) {
      if (!(element instanceof JsonValue.JsonObject query)) {
        throw LectusException.badRequest("Elements of `queries` must be JSON objects.");
      }
      Map<String, String> values = new HashMap<>(parameters);
      addMembers(values, query);
      queries.add(of(listing, new ListParameters(values)));
    }
    return queries;
  }

  private static void addMembers(Map<String, String> values, JsonValue.JsonObject object) {
    object
        .members()
        .forEach(
            (name, value) -> {
              JsonBuffer json = new JsonBuffer(64);
              value.writeTo(json);
              values.put(name, json.toString());
            });
  }

  private static AllDocsQuery of(Listing listing, ListParameters values) {
    Optional<ListKey> key = values.key("key");
    Optional<List<ListKey>> keys = values.keys();
    Optional<ListKey> start = key.or(() -> values.key("startkey", "start_key"));
    Optional<ListKey> end = key.or(() -> values.key("endkey", "end_key"));
    if (keys.isPresent() && (start.isPresent() || end.isPresent())) {
      throw LectusException.badRequest(
          "query_parse_error", "`keys` is incompatible with `key`, `start_key` and `end_key`");
    }
    return new AllDocsQuery(
        listing,
        keys,
        start,
        end,
        key.isPresent() || values.flag("inclusive_end", true),
        values.flag("descending", false),
        values.count("skip", 0),
        values.count("limit", Long.MAX_VALUE),
        values.flag("include_docs", false),
        values.flag("conflicts", false),
        values.flag("update_seq", false),
        listing == Listing.ALL ? values.partition() : Optional.empty());
  }

  /** Whether a document with this id may be among the rows. */
  boolean includes(String id) {
    return partition.isEmpty() || partition.equals(Partition.ofDocument(id));
  }
}
