package lectus.http.database;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import lectus.access.DatabaseRight;
import lectus.access.UserContext;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.NameRange;
import lectus.document.PagedBody;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.feed.database.DatabaseInfo;
import lectus.http.access.DatabaseGuard;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/** {@code /_dbs_info}: the answers of {@code GET /{db}} for many databases. */
final class DbsInfoResource implements Resource {
  private static final int MOST_KEYS = 100;

  /** Each row costs a handful of reads, so a page is small. */
  private static final int ROWS_PER_PAGE = 50;

  private final Catalogue catalogue;
  private final DatabaseGuard guard;
  private final DatabaseInfo info;

  DbsInfoResource(Catalogue catalogue, DatabaseGuard guard, DatabaseInfo info) {
    this.catalogue = catalogue;
    this.guard = guard;
    this.info = info;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        NameRange range = NameQuery.parse(exchange.query());
        UserContext user = exchange.user();
        exchange.stream(() -> new RangeBody(new VisibleNames(catalogue, guard, user, range)));
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
    if (array.elements().size() > MOST_KEYS) {
      throw LectusException.badRequest("too_many_keys");
    }
    return array.elements();
  }

  private JsonBuffer rows(UserContext user, List<JsonValue> keys) {
    JsonBuffer out = new JsonBuffer(512 * keys.size());
    String separator = "[";
    for (JsonValue key : keys) {
      key.writeTo(out.ascii(separator).ascii("{\"key\":"));
      int keyEnd = out.length();
      try {
        info.append(visible(user, name(key)), out.ascii(",\"info\":"));
        out.octet('}');
      } catch (LectusException e) {
        requireAbsence(e);
        out.truncate(keyEnd).ascii(",\"error\":\"not_found\"}");
      }
      separator = ",";
    }
    return out.ascii(keys.isEmpty() ? "[]" : "]");
  }

  private static DatabaseName name(JsonValue key) {
    return DatabaseName.of(key instanceof JsonValue.JsonString text ? text.value() : "");
  }

  /**
   * @throws LectusException {@code not_found}: the user may not read it, and learns no more
   */
  private DatabaseName visible(UserContext user, DatabaseName name) {
    if (!user.isServerAdmin() && !guard.of(user, name).includes(DatabaseRight.MEMBER)) {
      throw LectusException.notFound("Database does not exist.");
    }
    return name;
  }

  private static void requireAbsence(LectusException failure) {
    LectusError error = failure.error();
    if (!(error instanceof LectusError.NotFound || error instanceof LectusError.BadRequest)) {
      throw failure;
    }
  }

  /** The databases of a range; one that is deleted meanwhile is left out. */
  private final class RangeBody implements PagedBody {
    private final Deque<DatabaseName> names = new ArrayDeque<>();
    private final VisibleNames visible;
    private String separator = "[";

    RangeBody(VisibleNames visible) {
      this.visible = visible;
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      if (names.isEmpty() && visible.hasNext()) {
        names.addAll(visible.next());
      }
      for (int rows = 0; rows < ROWS_PER_PAGE && !names.isEmpty(); rows++) {
        appendRow(names.remove(), out);
      }
      boolean more = !names.isEmpty() || visible.hasNext();
      if (!more) {
        out.ascii(separator.equals("[") ? "[]\n" : "]\n");
      }
      return more;
    }

    private void appendRow(DatabaseName name, JsonBuffer out) {
      int start = out.length();
      try {
        out.ascii(separator).ascii("{\"key\":").string(name.text()).ascii(",\"info\":");
        info.append(name, out);
        out.octet('}');
        separator = ",";
      } catch (LectusException e) {
        requireAbsence(e);
        out.truncate(start);
      }
    }
  }
}
