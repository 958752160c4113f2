package lectus.http.admin;

import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import lectus.changes.page.DatabaseInfo;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.NameRange;
import lectus.database.UserContext;
import lectus.document.RequestJson;
import lectus.document.list.AllDocsQuery;
import lectus.document.list.AllDocsQuery.ListKey;
import lectus.document.list.AllDocsQuery.Listing;
import lectus.error.LectusException;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.auth.DatabaseGuard;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/** {@code /_dbs_info}: the answers of {@code GET /{db}} for many databases. */
record DbsInfoResource(Catalogue catalogue, DatabaseGuard guard, DatabaseInfo info)
    implements Resource {
  private static final int MAX_KEYS = 100;

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        NameRange range = NameQuery.parse(exchange.query());
        UserContext user = exchange.user();
        exchange.stream(
            () -> new InfosOfRange(new VisibleNames(catalogue, guard, user, range), info));
      }
      case POST -> {
        Requests.wantJson(exchange);
        UserContext user = exchange.user();
        exchange.answerBody(body -> Reply.json(200, rows(user, keys(body))));
      }
      default -> throw Requests.notAllowed("GET,HEAD,POST");
    }
  }

  private static List<JsonValue> keys(byte[] body) {
    JsonValue keys =
        RequestJson.object(body)
            .get("keys")
            .orElseThrow(() -> LectusException.badRequest("`keys` member must exist."));
    if (!(keys instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("`keys` member must be an array.");
    }
    if (array.elements().size() > MAX_KEYS) {
      throw LectusException.badRequest("too_many_keys");
    }
    return array.elements();
  }

  private JsonBuffer rows(UserContext user, List<JsonValue> keys) {
    List<Optional<DatabaseName>> names = keys.stream().map(DbsInfoResource::name).toList();
    Iterator<Optional<JsonBuffer>> infos =
        info.read(
                names.stream()
                    .flatMap(Optional::stream)
                    .map(name -> guard.ifVisible(user, name))
                    .toList())
            .iterator();
    JsonBuffer out = new JsonBuffer(512 * keys.size());
    String separator = "[";
    for (int i = 0; i < keys.size(); i++) {
      keys.get(i).writeTo(out.ascii(separator).ascii("{\"key\":"));
      names
          .get(i)
          .flatMap(name -> infos.next())
          .ifPresentOrElse(
              json -> out.ascii(",\"info\":").raw(json.array(), 0, json.length()).octet('}'),
              () -> out.ascii(",\"error\":\"not_found\"}"));
      separator = ",";
    }
    return out.ascii(keys.isEmpty() ? "[]" : "]");
  }

  private static Optional<DatabaseName> name(JsonValue key) {
    try {
      return Optional.of(
          DatabaseName.of(key instanceof JsonValue.JsonString text ? text.value() : ""));
    } catch (LectusException illegal) {
      return Optional.empty();
    }
  }

  /**
   * Parses the parameters of lists of databases into a range of names. In CouchDB these are lists
   * of documents, so the parameters are those of {@code _all_docs}.
   */
  static final class NameQuery {
    private NameQuery() {}

    /**
     * @throws lectus.error.LectusException {@code query_parse_error}, {@code bad_request}
     */
    static NameRange parse(QueryParameters query) {
      AllDocsQuery list = AllDocsQuery.parse(Listing.ALL, query.asMap(), null);
      return new NameRange(
          list.start().map(NameQuery::name),
          list.end().map(NameQuery::name),
          list.inclusiveEnd(),
          list.descending(),
          list.skip(),
          list.limit());
    }

    /** A key that is not a string sorts before all names, as it does among documents. */
    private static String name(ListKey key) {
      return key.json() instanceof JsonValue.JsonString name ? name.value() : "";
    }
  }
}
