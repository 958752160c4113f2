package lectus.http.changes;

import lectus.access.UserContext;
import lectus.document.PagedBody;
import lectus.feed.BoundedFeed;
import lectus.feed.DatabaseNotices;
import lectus.feed.LiveStart;
import lectus.feed.updates.StorePosition;
import lectus.feed.updates.StoreUpdates;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.http.live.FeedQuery;
import lectus.http.live.FeedResponse;
import lectus.http.live.FeedSocket;
import lectus.http.live.LiveFeeds;

/** {@code /_db_updates}: the databases that are created, updated and deleted. */
final class DbUpdatesResource implements Resource {
  private final StoreUpdates updates;
  private final DatabaseNotices events;
  private final LiveFeeds feeds;

  DbUpdatesResource(StoreUpdates updates, DatabaseNotices events, LiveFeeds feeds) {
    this.updates = updates;
    this.events = events;
    this.feeds = feeds;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> answer(exchange, query(exchange));
      default -> throw Requests.notAllowed("GET");
    }
  }

  private void answer(Exchange exchange, DbUpdatesQuery query) {
    FeedQuery feed = query.feed();
    if (new WebSocketUpgrade(exchange).isWanted()) {
      FeedSocket.start(feeds, exchange, feed, () -> live(query));
    } else if (feed.isLive() && !exchange.isHead()) {
      FeedResponse.start(feeds, exchange, feed, () -> live(query));
    } else {
      exchange.streamFeed(() -> normal(query, exchange.user()));
    }
  }

  private PagedBody normal(DbUpdatesQuery query, UserContext user) {
    long limit = query.feed().limit();
    if (query.descending()) {
      return updates.answerDownFrom(query.until(), limit);
    }
    return query.until().isPresent()
        ? new BoundedFeed<>(live(query), limit, user)
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
