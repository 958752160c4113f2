package lectus.http;

import lectus.feed.DatabaseEvents;
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
      case GET, HEAD -> answer(exchange, DbUpdatesQuery.parse(exchange.query()));
      case POST -> {
        Requests.wantJson(exchange);
        DbUpdatesQuery query = DbUpdatesQuery.parse(exchange.query());
        exchange.body().onComplete(unused -> answer(exchange, query), exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST,HEAD");
    }
  }

  private void answer(Exchange exchange, DbUpdatesQuery query) {
    if (query.form().isPresent() && !exchange.isHead()) {
      FeedResponse.start(
          exchange, query.form().get(), query.terms(), () -> updates.live(query.since(), events));
    } else {
      exchange.streamFeed(
          () -> updates.answer(query.since(), query.terms().limit(), query.descending()));
    }
  }
}
