package lectus.http.changes;

import io.vertx.core.Future;
import java.util.Optional;
import lectus.database.AskedDatabase;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.PagedBody;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.error.LectusException;
import lectus.feed.BoundedFeed;
import lectus.feed.DatabaseNotices;
import lectus.feed.LiveStart;
import lectus.feed.NewestFirst.Before;
import lectus.feed.filter.FeedFilter;
import lectus.feed.page.ChangesReader;
import lectus.feed.page.FeedPosition;
import lectus.feed.page.NormalFeed;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.StreamedBody;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.http.live.FeedQuery;
import lectus.http.live.LiveFeeds;
import lectus.http.memory.ParsedMemory;
import lectus.http.message.EntityTag;
import lectus.http.message.Method;
import lectus.http.message.QueryParameters;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * {@code /{db}/_changes}, and {@code /{db}/_changes/{shard}}, which differs in the rows it reads.
 */
final class ChangesResource implements Resource {
  private final ChangesReader everything;
  private final DocumentReader documents;
  private final DatabaseNotices events;
  private final LiveFeeds feeds;
  private final CheckedNames names;

  ChangesResource(
      ChangesReader everything,
      DocumentReader documents,
      DatabaseNotices events,
      LiveFeeds feeds,
      CheckedNames names) {
    this.everything = everything;
    this.documents = documents;
    this.events = events;
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
        if (parsed.isLive()) {
          exchange.held().holdsFilter(FilterMemory.of(query));
        }
        answer(exchange, database, parsed);
      }
      case POST -> {
        Requests.wantJson(exchange);
        exchange
            .body()
            .compose(body -> parse(exchange, query, body))
            .onComplete(
                parsed -> exchange.guarded(() -> answer(exchange, database, parsed)),
                exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST,HEAD");
    }
  }

  /**
   * Parses the query. A live feed may keep its filter for years, so the filter's memory is not
   * counted as a body's.
   */
  private static Future<ChangesQuery> parse(Exchange exchange, QueryParameters query, byte[] body) {
    ParsedMemory memory = exchange.parsing();
    long bytes = FilterMemory.of(body);
    return exchange
        .work(
            () -> {
              memory.add(bytes);
              return ChangesQuery.parse(query, exchange.lastEventId(), body);
            })
        .map(
            parsed -> {
              if (parsed.isLive()) {
                exchange.held().bodyBecomesFilter(bytes);
              }
              return parsed;
            });
  }

  private void answer(Exchange exchange, DatabaseName database, ChangesQuery query) {
    if (query.function().isPresent()) {
      refuse(exchange, query.function().get());
      return;
    }
    refuseBytesOverSocket(exchange, query);
    FeedQuery feed = query.feed();
    ChangesReader changes = reader(exchange);
    boolean isSocket = new WebSocketUpgrade(exchange).isWanted();
    if (!isSocket && (!query.isLive() || exchange.isHead())) {
      exchange.streamFeedTagged(() -> tagged(exchange, changes, database, query));
    } else if (query.descending()) {
      feeds.serve(
          exchange,
          feed,
          () -> changes.liveDownFrom(database, query.options(), newest(changes, database, query)));
    } else {
      feeds.serve(exchange, feed, () -> live(changes, database, query));
    }
  }

  /** A message of a socket is written whole, and attachments may be longer than the heap. */
  private static void refuseBytesOverSocket(Exchange exchange, ChangesQuery query) {
    if (query.options().hasBytes() && new WebSocketUpgrade(exchange).isWanted()) {
      throw LectusException.badRequest(
          "attachments=true is not available over WebSockets; feed=continuous has it.");
    }
  }

  /** Refuses a function of a design document; if it does not exist, the error says so. */
  private void refuse(Exchange exchange, DesignFunction function) {
    AskedDatabase asked = names.asked(exchange);
    exchange.answer(
        () -> {
          JsonBuffer json = new JsonBuffer(1_024);
          documents.read(asked, function.documentId(), DocumentQuery.DEFAULT, json);
          throw function.refusal(JsonValue.parse(json.toBytes()));
        });
  }

  private ChangesReader reader(Exchange exchange) {
    ChangesReader readable = everything.readBy(exchange.user());
    return exchange.segments().size() == 2
        ? readable
        : readable.ofShard(new ShardId(exchange.segment(2)));
  }

  /**
   * Tags answers to GET only: what a body asks for is not in the URL. Nor is a stored feed's
   * definition.
   */
  private StreamedBody tagged(
      Exchange exchange, ChangesReader changes, DatabaseName database, ChangesQuery query) {
    boolean isNamedByUrl =
        exchange.method() != Method.POST
            && !query.isLive()
            && !(query.options().filter() instanceof FeedFilter.OfFeed);
    if (query.until().isPresent() && !query.descending()) {
      Optional<EntityTag> tag =
          isNamedByUrl ? Optional.of(tag(changes.updateSequence(database))) : Optional.empty();
      PagedBody bounded =
          new BoundedFeed<>(live(changes, database, query), query.feed().limit(), exchange.user());
      return new StreamedBody(tag, changes.filled(database, query.options(), bounded));
    }
    NormalFeed feed = normal(changes, database, query);
    return new StreamedBody(
        () -> isNamedByUrl ? feed.end().map(it -> tag(it.sequence())) : Optional.empty(),
        changes.filled(database, query.options(), feed));
  }

  /** The answer of a feed only changes when the database's last sequence does. */
  private static EntityTag tag(Optional<Sequence> last) {
    return new EntityTag(last.map(Sequence::toString).orElse("0"));
  }

  private static NormalFeed normal(
      ChangesReader changes, DatabaseName database, ChangesQuery query) {
    long limit = query.feed().limit();
    return query.until().isPresent()
        ? changes.answerDownFrom(database, query.options(), query.until().get(), limit)
        : changes.answer(database, query.options(), query.since(), limit, query.descending());
  }

  private static Before<FeedPosition> newest(
      ChangesReader changes, DatabaseName database, ChangesQuery query) {
    return query
        .shownBefore()
        .map(shown -> changes.position(database, shown))
        .or(() -> query.until().map(until -> changes.position(database, until).rightBehind()))
        .map(Before::bound)
        .orElseGet(Before::end);
  }

  private LiveStart<FeedPosition> live(
      ChangesReader changes, DatabaseName database, ChangesQuery query) {
    LiveStart<FeedPosition> start = changes.live(database, query.options(), query.since(), events);
    return query.until().map(until -> start.until(changes.position(database, until))).orElse(start);
  }
}
