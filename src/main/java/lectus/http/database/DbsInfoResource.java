package lectus.http.database;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.NamePage;
import lectus.database.NameRange;
import lectus.document.PagedBody;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.feed.database.DatabaseInfo;
import lectus.http.Services;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.JsonStrings;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.json.JsonInput;

/** {@code /_dbs_info}: what {@code GET /{db}} tells, of many databases. */
final class DbsInfoResource implements Resource {
  private static final int MOST_KEYS = 100;

  /** One answer costs a handful of reads, so a page of them is small. */
  private static final int ROWS_PER_PAGE = 50;

  private final Catalogue catalogue;
  private final DatabaseInfo info;

  DbsInfoResource(Services services) {
    this.catalogue = services.catalogue();
    this.info = services.databaseInfo();
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        NameRange range = NameQuery.parse(exchange.query());
        exchange.stream(() -> new RangeBody(range));
      }
      case POST -> {
        Requests.wantJson(exchange);
        exchange.answerBody(body -> Reply.json(200, rows(keys(body))));
      }
      default -> throw Requests.notAllowed("GET,HEAD,POST");
    }
  }

  private static List<String> keys(byte[] body) {
    try (JsonInput input = JsonInput.of(body)) {
      List<String> keys = null;
      if (input.next() != JsonToken.START_OBJECT) {
        throw LectusException.badRequest("Request body must be a JSON object");
      }
      while (input.next() == JsonToken.FIELD_NAME) {
        boolean wanted = input.name().equals("keys");
        input.next();
        if (wanted) {
          keys = JsonStrings.read(input, "keys");
        } else {
          input.skip();
        }
      }
      input.expectEnd();
      return checked(keys);
    }
  }

  private static List<String> checked(List<String> keys) {
    if (keys == null) {
      throw LectusException.badRequest("`keys` member must exist.");
    }
    if (keys.size() > MOST_KEYS) {
      throw LectusException.badRequest(
          "too_many_keys", "At most " + MOST_KEYS + " keys are taken.");
    }
    return keys;
  }

  private JsonBuffer rows(List<String> keys) {
    JsonBuffer out = new JsonBuffer(512 * keys.size());
    String separator = "[";
    for (String key : keys) {
      out.ascii(separator).ascii("{\"key\":").string(key);
      int keyEnd = out.length();
      try {
        info.append(DatabaseName.of(key), out.ascii(",\"info\":"));
        out.octet('}');
      } catch (LectusException e) {
        requireAbsence(e);
        out.truncate(keyEnd).ascii(",\"error\":\"not_found\"}");
      }
      separator = ",";
    }
    return out.ascii(keys.isEmpty() ? "[]" : "]");
  }

  private static void requireAbsence(LectusException failure) {
    LectusError error = failure.error();
    if (!(error instanceof LectusError.NotFound || error instanceof LectusError.BadRequest)) {
      throw failure;
    }
  }

  /** All databases of a range; one that is deleted meanwhile is left out. */
  private final class RangeBody implements PagedBody {
    private final Deque<DatabaseName> names = new ArrayDeque<>();
    private Optional<NameRange> rest;
    private String separator = "[";

    RangeBody(NameRange range) {
      this.rest = Optional.of(range);
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      if (names.isEmpty() && rest.isPresent()) {
        NamePage page = catalogue.names(rest.get());
        names.addAll(page.names());
        rest = page.next();
      }
      for (int rows = 0; rows < ROWS_PER_PAGE && !names.isEmpty(); rows++) {
        appendRow(names.remove(), out);
      }
      boolean more = !names.isEmpty() || rest.isPresent();
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
