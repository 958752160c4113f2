package lectus.http.api;

import java.util.Optional;
import java.util.OptionalLong;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DeletedDatabases;
import lectus.changes.page.DeletedDatabases.Bound;
import lectus.changes.page.DeletedDatabases.Listed;
import lectus.database.DatabaseName;
import lectus.database.DeletedSubspace;
import lectus.document.RequestJson;
import lectus.document.read.AllDocsQuery;
import lectus.document.read.AllDocsQuery.ListKey;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.error.LectusException;
import lectus.http.Method;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Services;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * {@code /_deleted_dbs} and {@code /_deleted_dbs/{db}}, as the CouchDB on FoundationDB had them:
 * databases that were deleted and are kept.
 */
final class DeletedApi {
  private final DeletedDatabases deleted;
  private final DatabaseNotifications events;

  DeletedApi(Services services) {
    this.deleted = services.databases().deleted();
    this.events = services.databases().events();
  }

  void serve(Exchange exchange) {
    switch (exchange.target().segments().size()) {
      case 1 -> all(exchange);
      case 2 -> one(exchange, DatabaseName.of(exchange.segment(1)));
      default -> throw LectusException.notFound("missing");
    }
  }

  private void all(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        Listed listed = listed(exchange);
        exchange.stream(() -> deleted.list(listed));
      }
      case POST -> {
        Requests.wantJson(exchange);
        exchange.answerBodyByChange(body -> undelete(RequestJson.object(body)));
      }
      default -> throw Requests.notAllowed("GET,HEAD,POST");
    }
  }

  /** The parameters are those of {@code _dbs_info}. */
  private static Listed listed(Exchange exchange) {
    AllDocsQuery list = AllDocsQuery.parse(Listing.ALL, exchange.query().asMap(), null);
    return new Listed(
        list.start().map(DeletedApi::bound),
        list.end().map(DeletedApi::bound),
        list.inclusiveEnd(),
        list.descending(),
        list.skip(),
        list.limit());
  }

  /** A key is a name, or an array of a name and a time. */
  private static Bound bound(ListKey key) {
    if (key.json() instanceof JsonString name) {
      return new Bound(name.value(), OptionalLong.empty());
    }
    if (key.json() instanceof JsonArray pair
        && pair.elements().size() == 2
        && pair.elements().get(0) instanceof JsonString name
        && pair.elements().get(1) instanceof JsonString time) {
      OptionalLong at = DeletedSubspace.seconds(time.value());
      if (at.isPresent()) {
        return new Bound(name.value(), at);
      }
    }
    throw LectusException.badRequest("A key is a name, or an array of a name and a timestamp.");
  }

  private Reply undelete(JsonObject body) {
    JsonValue asked = member(body, "undelete");
    if (!(asked instanceof JsonObject undelete)) {
      throw LectusException.badRequest("`undelete` must be an object.");
    }
    String source = text(undelete, "source");
    String timestamp = text(undelete, "timestamp");
    String target = undelete.get("target").isPresent() ? text(undelete, "target") : source;
    DatabaseName name = DatabaseName.of(target);
    events.publishCreated(
        deleted.undelete(DatabaseName.of(source), timestamp, name, isForced(undelete)).instance(),
        name);
    return Reply.ok(200);
  }

  private static boolean isForced(JsonObject undelete) {
    JsonValue force = undelete.get("force").orElse(new JsonBool(false));
    if (force instanceof JsonBool flag) {
      return flag.value();
    }
    throw LectusException.badRequest("`force` must be true or false.");
  }

  private static JsonValue member(JsonObject object, String name) {
    return object
        .get(name)
        .orElseThrow(
            () -> LectusException.badRequest("POST body must include `" + name + "` parameter."));
  }

  private static String text(JsonObject object, String name) {
    if (member(object, name) instanceof JsonString text) {
      return text.value();
    }
    throw LectusException.badRequest("`" + name + "` must be a string.");
  }

  private void one(Exchange exchange, DatabaseName name) {
    if (exchange.method() != Method.DELETE) {
      throw Requests.notAllowed("DELETE");
    }
    String timestamp = timestamp(exchange.query().text("timestamp"));
    exchange.answerChange(
        () -> {
          deleted.remove(name, timestamp);
          return Reply.ok(200);
        });
  }

  /** CouchDB wants JSON, in which the time has quotes. */
  private static String timestamp(Optional<String> parameter) {
    String text =
        parameter.orElseThrow(
            () -> LectusException.badRequest("`timestamp` parameter is not provided."));
    boolean isQuoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    return isQuoted ? text.substring(1, text.length() - 1) : text;
  }
}
