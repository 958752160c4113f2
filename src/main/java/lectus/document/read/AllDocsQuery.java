package lectus.document.read;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.Partition;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentId;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/**
 * A query of one of the document lists.
 *
 * @param keys lists these rows, in this order, instead of a range
 * @param start where the range begins, in the direction of reading
 * @param end where the range ends
 * @param skip number of rows to skip
 * @param limit maximum number of rows
 * @param attachments how documents show them
 * @param partition lists only this partition's documents
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
    AttachmentsShown attachments,
    Optional<Partition> partition) {

  /** Which list is queried. */
  public enum Listing {
    /** {@code _all_docs}. */
    ALL,
    /** {@code _design_docs}. */
    DESIGN,
    /** {@code _local_docs}. */
    LOCAL
  }

  /**
   * Parses a query from the URL's parameters and, for POST, from a JSON object with the same
   * members. The URL takes precedence, except that {@code keys} in both places are refused, because
   * the request would be ambiguous. {@code startkey_docid} and {@code endkey_docid}, which belong
   * to views, replace a missing bound.
   *
   * @param parameters decoded, by name; unknown ones are ignored
   * @param body the request's body; null for GET
   * @throws LectusException {@code query_parse_error}, {@code bad_request}
   */
  public static AllDocsQuery parse(Listing listing, Map<String, String> parameters, byte[] body) {
    CollectedArguments arguments = new CollectedArguments();
    if (body == null) {
      askForKeys(arguments, parameters);
    } else {
      takeBody(arguments, object(body, parameters));
    }
    takeParameters(arguments, parameters);
    return arguments.query(listing);
  }

  private static JsonValue.JsonObject object(byte[] body, Map<String, String> parameters) {
    JsonValue.JsonObject object = RequestJson.object(body);
    if (object.get("keys").isPresent() && parameters.containsKey("keys")) {
      throw CollectedArguments.incompatibleKeys();
    }
    return object;
  }

  private static void askForKeys(CollectedArguments arguments, Map<String, String> parameters) {
    String keys = parameters.get("keys");
    if (keys != null) {
      arguments.askFor(array(new ListArgument.Parameter(keys).json(), "parameter"));
    }
  }

  private static void takeBody(CollectedArguments arguments, JsonValue.JsonObject body) {
    body.get("keys").ifPresent(keys -> arguments.askFor(array(keys, "body member")));
    takeMembers(arguments, body);
  }

  private static JsonValue.JsonArray array(JsonValue keys, String what) {
    if (keys instanceof JsonValue.JsonArray array) {
      return array;
    }
    throw LectusException.badRequest("`keys` " + what + " must be an array.");
  }

  private static void takeParameters(CollectedArguments arguments, Map<String, String> parameters) {
    parameters.forEach((name, text) -> arguments.take(name, new ListArgument.Parameter(text)));
  }

  private static void takeMembers(CollectedArguments arguments, JsonValue.JsonObject object) {
    object.members().forEach((name, json) -> arguments.take(name, new ListArgument.Member(json)));
  }

  /**
   * Parses a body {@code {"queries":[{…},…]}}. The URL's parameters apply to each query that does
   * not override them.
   *
   * @throws LectusException {@code query_parse_error}, {@code bad_request}
   */
  public static List<AllDocsQuery> parseQueries(
      Listing listing, Map<String, String> parameters, byte[] body) {
    List<AllDocsQuery> queries = new ArrayList<>();
    for (JsonValue.JsonObject query : RequestJson.queries(body)) {
      CollectedArguments arguments = new CollectedArguments();
      takeParameters(arguments, parameters);
      arguments.forgetKeysAndGroups();
      takeMembers(arguments, query);
      queries.add(arguments.query(listing));
    }
    return queries;
  }

  /** Whether the rows have bytes of attachments, which are read later. */
  boolean hasBytes() {
    return includeDocs && attachments.showsBytes();
  }

  /**
   * Whether the list can have a row for this key. A key that it cannot have is left out altogether,
   * not even reported as missing.
   */
  boolean mayList(ListKey key) {
    return switch (listing) {
      case ALL -> true;
      case DESIGN -> key.id().filter(DocumentId::isDesign).isPresent();
      case LOCAL -> key.id().filter(DocumentId::isLocal).isPresent();
    };
  }

  /** Whether the rows may include a document with this id. */
  boolean includes(String id) {
    return partition.isEmpty() || partition.equals(Partition.ofDocument(id));
  }

  /**
   * A key of a list. Keys are ids. As in CouchDB, any other JSON value equals no id and sorts
   * before all ids.
   */
  public record ListKey(JsonValue json) {
    static ListKey of(String id) {
      return new ListKey(new JsonValue.JsonString(id));
    }

    /** Returns the id; empty if the key is not an id. */
    Optional<String> id() {
      return json instanceof JsonValue.JsonString text
          ? Optional.of(text.value())
          : Optional.empty();
    }
  }
}
