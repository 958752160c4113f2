package lectus.http;

import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.document.PagedBody;
import lectus.feed.BoundedFeed;
import lectus.feed.ChangesReader;
import lectus.feed.DatabaseEvents;
import lectus.feed.FeedPosition;
import lectus.feed.LiveStart;

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
      case GET, HEAD -> {
        ChangesQuery parsed = ChangesQuery.parse(query, exchange.lastEventId(), null);
        answer(exchange, database, parsed);
      }
      case POST -> {
        Requests.wantJson(exchange);
        exchange
            .body()
            .compose(
                body ->
                    exchange.work(() -> ChangesQuery.parse(query, exchange.lastEventId(), body)))
            .onComplete(parsed -> answer(exchange, database, parsed), exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST,HEAD");
    }
  }

  private void answer(Exchange exchange, DatabaseName database, ChangesQuery query) {
    FeedQuery feed = query.feed();
    if (new WebSocketUpgrade(exchange).isWanted()) {
      FeedSocket.start(exchange, feed, () -> live(database, query));
    } else if (query.isLive() && !exchange.isHead()) {
      FeedResponse.start(exchange, feed.form().get(), feed.terms(), () -> live(database, query));
    } else {
      exchange.streamFeedTagged(() -> tagged(exchange, database, query));
    }
  }

  /** What a body asks for is not in the URL, so only answers to GET are tagged. */
  private StreamedBody tagged(Exchange exchange, DatabaseName database, ChangesQuery query) {
    boolean isNamedByUrl = exchange.method() != Method.POST && !query.isLive();
    Optional<EntityTag> tag = isNamedByUrl ? Optional.of(tag(database)) : Optional.empty();
    return new StreamedBody(tag, normal(database, query));
  }

  /** A feed shows nothing that changes without the database's last sequence. */
  private EntityTag tag(DatabaseName database) {
    return new EntityTag(changes.updateSequence(database).map(Sequence::toString).orElse("0"));
  }

  private PagedBody normal(DatabaseName database, ChangesQuery query) {
    long limit = query.feed().limit();
    if (query.until().isEmpty()) {
      return changes.answer(database, query.options(), query.since(), limit, query.descending());
    }
    return query.descending()
        ? changes.answerDownFrom(database, query.options(), query.until().get(), limit)
        : new BoundedFeed<>(live(database, query), limit);
  }

  private LiveStart<FeedPosition> live(DatabaseName database, ChangesQuery query) {
    LiveStart<FeedPosition> start = changes.live(database, query.options(), query.since(), events);
    return query.until().map(until -> start.until(changes.position(database, until))).orElse(start);
  }
}
