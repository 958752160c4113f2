package lectus.http.changes;

import lectus.database.AskedDatabase;
import lectus.database.CreationOptions;
import lectus.database.DatabaseName;
import lectus.database.Generation;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.feed.DatabaseNotices;
import lectus.feed.FeedText;
import lectus.feed.database.ChangesShards;
import lectus.feed.page.Since;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/** {@code /{db}/_changes/_meta}: the shards of a database's changes (RFC 018). */
final class ChangesShardsResource implements Resource {
  private final ChangesShards shards;
  private final DatabaseNotices events;
  private final CheckedNames names;

  ChangesShardsResource(ChangesShards shards, DatabaseNotices events, CheckedNames names) {
    this.shards = shards;
    this.events = events;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    switch (exchange.method()) {
      case GET, HEAD -> {
        Since since = Since.parse(exchange.query().text("since").orElse("0"));
        exchange.answer(() -> get(names.asked(exchange), since));
      }
      case PUT -> exchange.answerBodyByChange(body -> put(database, count(body)));
      default -> throw Requests.notAllowed("GET,HEAD,PUT");
    }
  }

  private Reply get(AskedDatabase database, Since since) {
    JsonBuffer out = new JsonBuffer(512);
    shards.append(database, since, out);
    return Reply.json(200, out);
  }

  private Reply put(DatabaseName database, int count) {
    Generation generation = shards.reshard(database, count, events);
    JsonBuffer out = new JsonBuffer(256);
    out.ascii("{\"ok\":true,\"since\":").string(generation.since().orElseThrow().toString());
    FeedText.appendShards(generation.shards(), out.ascii(",\"shards\":"));
    return Reply.json(202, out.octet('}'));
  }

  /**
   * @throws LectusException {@code bad_request}: not {@code {"shards":N}}
   */
  private static int count(byte[] body) {
    JsonValue shards =
        RequestJson.object(body)
            .get("shards")
            .orElseThrow(() -> LectusException.badRequest("`shards` member must exist."));
    try {
      return Integer.parseInt(shards instanceof JsonValue.JsonNumber number ? number.text() : "");
    } catch (NumberFormatException e) {
      throw CreationOptions.badChangesShards();
    }
  }
}
