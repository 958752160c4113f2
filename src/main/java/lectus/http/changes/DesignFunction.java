package lectus.http.changes;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.document.DocumentId;
import lectus.error.LectusException;
import lectus.http.exchange.Requests;
import lectus.http.message.QueryParameters;
import lectus.http.message.RequestTarget;
import lectus.json.JsonValue;

/**
 * A function of a design document that is to filter a feed: {@code filter=design/name}, or {@code
 * filter=_view&view=design/name}. Functions do not run yet, so only its existence is checked.
 *
 * @param kind the design document's member that holds such functions: {@code filters}, {@code
 *     views}
 */
record DesignFunction(String design, String kind, String name) {

  /**
   * Returns the function that a feed's parameters name; empty if they name none, or a built-in
   * filter.
   *
   * @throws LectusException {@code bad_request}, with CouchDB's reasons
   */
  static Optional<DesignFunction> of(QueryParameters query) {
    if (FeedParameters.isNamed(query)) {
      return Optional.empty();
    }
    String filter = query.text("filter").orElse("");
    return switch (filter) {
      case "_doc_ids", "_selector", "_design" -> Optional.empty();
      case "_view" -> Optional.of(view(query.text("view").orElse("")));
      default -> ofDesign(filter);
    };
  }

  private static Optional<DesignFunction> ofDesign(String filter) {
    if (filter.startsWith("_")) {
      throw LectusException.badRequest("unknown builtin filter name");
    }
    List<String> names = names(filter);
    if (names.isEmpty()) {
      return Optional.empty();
    }
    if (names.size() != 2) {
      throw LectusException.badRequest("`filter` must be of the form `designname/filtername`");
    }
    return Optional.of(new DesignFunction(names.get(0), "filters", names.get(1)));
  }

  private static DesignFunction view(String view) {
    if (view.isEmpty()) {
      throw LectusException.badRequest("`view` filter parameter is not provided.");
    }
    List<String> names = names(view);
    if (names.size() != 2) {
      throw LectusException.badRequest("`view` must be of the form `designname/viewname`");
    }
    return new DesignFunction(names.get(0), "views", names.get(1));
  }

  /** A name that contains slashes arrives encoded twice. */
  private static List<String> names(String path) {
    return Arrays.stream(path.split("/"))
        .filter(name -> !name.isEmpty())
        .map(name -> new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1))
        .map(name -> RequestTarget.decode(name, 0, name.length()))
        .toList();
  }

  String documentId() {
    return DocumentId.DESIGN_PREFIX + design;
  }

  /**
   * @param document the design document
   * @return {@code not_found} if it has no such function, else {@code not_implemented}
   */
  LectusException refusal(JsonValue document) {
    JsonValue functions = member(document, kind);
    member(functions, name);
    return Requests.notImplemented(
        "Functions in design documents, such as "
            + kind
            + "."
            + name
            + " of "
            + documentId()
            + ", are a part of CouchDB that Lectus does not have.");
  }

  private static JsonValue member(JsonValue json, String name) {
    if (json instanceof JsonValue.JsonObject object) {
      return object
          .get(name)
          .orElseThrow(() -> LectusException.notFound("missing json key: " + name));
    }
    throw LectusException.notFound("json_mismatch");
  }
}
