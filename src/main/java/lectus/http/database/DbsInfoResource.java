package lectus.http.database;

import java.util.List;
import lectus.access.UserContext;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.NameRange;
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
        info.append(guard.ifVisible(user, name(key)), out.ascii(",\"info\":"));
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

  static void requireAbsence(LectusException failure) {
    LectusError error = failure.error();
    if (!(error instanceof LectusError.NotFound || error instanceof LectusError.BadRequest)) {
      throw failure;
    }
  }
}
