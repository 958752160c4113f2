package lectus.http;

import lectus.database.DatabaseName;
import lectus.feed.ChangesReader;
import lectus.feed.DatabaseEvents;

/** {@code /{db}/_changes}. */
final class ChangesResource implements Resource {
  private final ChangesReader changes;
  private final DatabaseEvents events;
  private final DatabaseNames names;

  ChangesResource(Services services, DatabaseNames names) {
    this.changes = services.changes();
    this.events = services.events();
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    QueryParameters query = exchange.query();
    switch (exchange.method()) {
      case GET, HEAD -> answer(exchange, database, ChangesQuery.parse(query, null));
      case POST -> {
        Requests.wantJson(exchange);
        exchange
            .body()
            .compose(body -> exchange.work(() -> ChangesQuery.parse(query, body)))
            .onComplete(parsed -> answer(exchange, database, parsed), exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST,HEAD");
    }
  }

  private void answer(Exchange exchange, DatabaseName database, ChangesQuery query) {
    if (query.isLive() && !exchange.isHead()) {
      FeedResponse.start(
          exchange,
          query.form().get(),
          query.terms(),
          () -> changes.live(database, query.options(), query.since(), events));
    } else {
      exchange.streamFeed(
          () ->
              changes.answer(
                  database, query.options(), query.since(), query.limit(), query.descending()));
    }
  }
}
