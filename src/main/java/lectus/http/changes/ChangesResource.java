package lectus.http.changes;

import java.util.Optional;
import java.util.concurrent.Callable;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.PagedBody;
import lectus.document.read.DocumentReader;
import lectus.document.read.ReadOptions;
import lectus.feed.BoundedFeed;
import lectus.feed.DatabaseEvents;
import lectus.feed.LiveStart;
import lectus.feed.page.ChangesReader;
import lectus.feed.page.FeedPosition;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.StreamedBody;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.http.live.FeedQuery;
import lectus.http.live.FeedResponse;
import lectus.http.live.FeedSocket;
import lectus.http.live.LiveFeeds;
import lectus.http.message.EntityTag;
import lectus.http.message.Method;
import lectus.http.message.QueryParameters;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/** {@code /{db}/_changes}, and {@code /{db}/_changes/{shard}}, which differs in what it reads. */
final class ChangesResource implements Resource {
  private final ChangesReader everything;
  private final DocumentReader documents;
  private final DatabaseEvents events;
  private final LiveFeeds feeds;
  private final DatabaseNames names;

  ChangesResource(Services services, LiveFeeds feeds, DatabaseNames names) {
    this.everything = services.changes();
    this.documents = services.documents();
    this.events = services.events();
    this.feeds = feeds;
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
            .onComplete(
                parsed -> exchange.guarded(() -> answer(exchange, database, parsed)),
                exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST,HEAD");
    }
  }

  private void answer(Exchange exchange, DatabaseName database, ChangesQuery query) {
    if (query.function().isPresent()) {
      refuse(exchange, database, query.function().get());
      return;
    }
    FeedQuery feed = query.feed();
    ChangesReader changes = reader(exchange);
    Callable<LiveStart<FeedPosition>> live = () -> live(changes, database, query);
    if (new WebSocketUpgrade(exchange).isWanted()) {
      FeedSocket.start(feeds, exchange, feed, live);
    } else if (query.isLive() && !exchange.isHead()) {
      FeedResponse.start(feeds, exchange, feed, live);
    } else {
      exchange.streamFeedTagged(() -> tagged(exchange, changes, database, query));
    }
  }

  /** Says first whether there is such a function at all. */
  private void refuse(Exchange exchange, DatabaseName database, DesignFunction function) {
    exchange.answer(
        () -> {
          JsonBuffer json = new JsonBuffer(1_024);
          documents.read(database, function.documentId(), ReadOptions.DEFAULT, json);
          throw function.refusal(JsonValue.parse(json.toBytes()));
        });
  }

  private ChangesReader reader(Exchange exchange) {
    return exchange.segments().size() == 2
        ? everything
        : everything.ofShard(new ShardId(exchange.segment(2)));
  }

  /** What a body asks for is not in the URL, so only answers to GET are tagged. */
  private StreamedBody tagged(
      Exchange exchange, ChangesReader changes, DatabaseName database, ChangesQuery query) {
    boolean isNamedByUrl = exchange.method() != Method.POST && !query.isLive();
    Optional<EntityTag> tag = isNamedByUrl ? Optional.of(tag(changes, database)) : Optional.empty();
    return new StreamedBody(tag, normal(changes, database, query));
  }

  /** A feed shows nothing that changes without the database's last sequence. */
  private static EntityTag tag(ChangesReader changes, DatabaseName database) {
    return new EntityTag(changes.updateSequence(database).map(Sequence::toString).orElse("0"));
  }

  private PagedBody normal(ChangesReader changes, DatabaseName database, ChangesQuery query) {
    long limit = query.feed().limit();
    if (query.until().isEmpty()) {
      return changes.answer(database, query.options(), query.since(), limit, query.descending());
    }
    return query.descending()
        ? changes.answerDownFrom(database, query.options(), query.until().get(), limit)
        : new BoundedFeed<>(live(changes, database, query), limit);
  }

  private LiveStart<FeedPosition> live(
      ChangesReader changes, DatabaseName database, ChangesQuery query) {
    LiveStart<FeedPosition> start = changes.live(database, query.options(), query.since(), events);
    return query.until().map(until -> start.until(changes.position(database, until))).orElse(start);
  }
}
