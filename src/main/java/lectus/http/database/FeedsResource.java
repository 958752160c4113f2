package lectus.http.database;

import java.util.List;
import lectus.channel.FeedDefinition;
import lectus.database.AskedDatabase;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.RequestJson;
import lectus.document.feed.FeedCatalogue;
import lectus.error.LectusException;
import lectus.feed.DatabaseNotices;
import lectus.feed.TouchedShards;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;
import lectus.http.message.Reply;
import lectus.store.CommitResult;

/** {@code /{db}/_feeds} and {@code /{db}/_feeds/{name}}: stored feeds. */
final class FeedsResource implements Resource {
  private final FeedCatalogue feeds;
  private final CheckedNames names;
  private final DatabaseNotices events;

  FeedsResource(FeedCatalogue feeds, CheckedNames names, DatabaseNotices events) {
    this.feeds = feeds;
    this.names = names;
    this.events = events;
  }

  @Override
  public void serve(Exchange exchange) {
    AskedDatabase database = names.asked(exchange);
    List<String> path = exchange.segments();
    if (path.size() == 2) {
      if (exchange.method() != Method.GET && exchange.method() != Method.HEAD) {
        throw Requests.notAllowed("GET,HEAD");
      }
      exchange.answer(() -> Reply.json(200, feeds.list(database)));
    } else if (path.size() == 3) {
      serve(exchange, database, path.get(2));
    } else {
      throw LectusException.notFound("missing");
    }
  }

  private void serve(Exchange exchange, AskedDatabase database, String name) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answer(() -> Reply.json(200, feeds.one(database, name)));
      case PUT -> exchange.answerBodyByChange(body -> put(database, name, body));
      case DELETE ->
          exchange.answerChange(
              () -> {
                tell(feeds.delete(database.name(), name));
                return Reply.ok(200);
              });
      default -> throw Requests.notAllowed("DELETE,GET,HEAD,PUT");
    }
  }

  /** Wakes the feed's readers, so that they end. */
  private void tell(CommitResult<DatabaseHandle> deleted) {
    DatabaseHandle db = deleted.value();
    Sequence sequence = Sequence.of(db.incarnation(), deleted.versionstamp(), 0);
    events.publishUpdated(db.instance(), db.name(), sequence, TouchedShards.ANY);
  }

  private Reply put(AskedDatabase database, String name, byte[] body) {
    FeedDefinition definition = FeedDefinition.parse(name, RequestJson.object(body));
    return Reply.ok(feeds.put(database.name(), definition) ? 201 : 200);
  }
}
