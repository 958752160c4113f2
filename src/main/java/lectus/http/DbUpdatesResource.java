package lectus.http;

import lectus.document.PagedBody;
import lectus.feed.BoundedFeed;
import lectus.feed.DatabaseEvents;
import lectus.feed.LiveStart;
import lectus.feed.StorePosition;
import lectus.feed.StoreUpdates;

/** {@code /_db_updates}: which databases are created, updated and deleted. */
final class DbUpdatesResource implements Resource {
  private final StoreUpdates updates;
  private final DatabaseEvents events;

  DbUpdatesResource(Services services) {
    this.updates = services.storeUpdates();
    this.events = services.events();
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> answer(exchange, query(exchange));
      case POST -> {
        Requests.wantJson(exchange);
        DbUpdatesQuery query = query(exchange);
        exchange.body().onComplete(unused -> answer(exchange, query), exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST,HEAD");
    }
  }

  private void answer(Exchange exchange, DbUpdatesQuery query) {
    FeedQuery feed = query.feed();
    if (new WebSocketUpgrade(exchange).isWanted()) {
      FeedSocket.start(exchange, feed, () -> live(query));
    } else if (feed.form().isPresent() && !exchange.isHead()) {
      FeedResponse.start(exchange, feed.form().get(), feed.terms(), () -> live(query));
    } else {
      exchange.streamFeed(() -> normal(query));
    }
  }

  private PagedBody normal(DbUpdatesQuery query) {
    long limit = query.feed().limit();
    if (query.descending()) {
      return updates.answerDownFrom(query.until(), limit);
    }
    return query.until().isPresent()
        ? new BoundedFeed<>(live(query), limit)
        : updates.answer(query.since(), limit);
  }

  private LiveStart<StorePosition> live(DbUpdatesQuery query) {
    LiveStart<StorePosition> start = updates.live(query.since(), events);
    return query.until().map(updates::position).map(start::until).orElse(start);
  }

  private static DbUpdatesQuery query(Exchange exchange) {
    return DbUpdatesQuery.parse(exchange.query(), exchange.lastEventId());
  }
}
