package lectus.http.changes;

import lectus.access.UserContext;
import lectus.document.PagedBody;
import lectus.feed.BoundedFeed;
import lectus.feed.DatabaseNotices;
import lectus.feed.LiveStart;
import lectus.feed.NewestFirst.Before;
import lectus.feed.updates.StorePosition;
import lectus.feed.updates.StoreUpdates;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.WebSocketUpgrade;
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
    boolean isSocket = new WebSocketUpgrade(exchange).isWanted();
    exchange.encoding().leavePlain();
    if (!isSocket && (!query.feed().isLive() || exchange.isHead())) {
      exchange.streamFeed(() -> normal(query, exchange.user()));
    } else if (query.descending()) {
      feeds.serve(exchange, query.feed(), () -> updates.liveDownFrom(newest(query)));
    } else {
      feeds.serve(exchange, query.feed(), () -> live(query));
    }
  }

  private Before<StorePosition> newest(DbUpdatesQuery query) {
    return query
        .shownBefore()
        .map(updates::position)
        .or(() -> query.until().map(updates::rightBehind))
        .map(Before::bound)
        .orElseGet(Before::end);
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
