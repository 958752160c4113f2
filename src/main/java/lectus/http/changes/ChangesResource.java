package lectus.http.changes;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FunctionFilter;
import lectus.changes.page.BoundedFeed;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.NewestFirst.Before;
import lectus.changes.page.NormalFeed;
import lectus.changes.page.Since;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.http.EntityTag;
import lectus.http.Headers;
import lectus.http.Method;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.exchange.DesignFunctions;
import lectus.http.exchange.DesignFunctions.DesignFunction;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.RequestObject;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.StreamedBody;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.http.limits.ParsedMemory;

/**
 * {@code /{db}/_changes}, and {@code /{db}/_changes/{shard}}, which differs in the rows it reads.
 */
record ChangesResource(
    ChangesReader everything,
    DesignFunctions functions,
    DatabaseNotifications events,
    LiveFeeds feeds)
    implements Resource {
  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = exchange.databaseName();
    switch (exchange.method()) {
      case GET, HEAD -> {
        ChangesQuery parsed = ChangesQuery.parse(exchange, null);
        if (parsed.feed().isLive()) {
          exchange.held().holdsFilter(FilterMemory.of(exchange.query()));
        }
        answer(exchange, database, parsed, null);
      }
      case POST -> {
        Requests.wantJson(exchange);
        exchange
            .body()
            .onComplete(
                body ->
                    parse(exchange, body)
                        .onComplete(
                            parsed ->
                                exchange.guarded(() -> answer(exchange, database, parsed, body)),
                            exchange::fail),
                exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST,HEAD");
    }
  }

  /**
   * Parses the query. A live feed may keep its filter for years, so the filter's memory is not
   * counted as a body's.
   */
  private static Future<ChangesQuery> parse(Exchange exchange, byte[] body) {
    long bytes = FilterMemory.of(body);
    ParsedMemory memory = exchange.parsing();
    return exchange
        .parse(
            memory,
            () -> {
              memory.add(bytes);
              return ChangesQuery.parse(exchange, body);
            })
        .map(
            parsed -> {
              if (parsed.feed().isLive()) {
                exchange.held().bodyBecomesFilter(bytes);
              }
              return parsed;
            });
  }

  private void answer(Exchange exchange, DatabaseName database, ChangesQuery query, byte[] body) {
    refuseBytesOverSocket(exchange, query);
    if (query.function().isPresent()) {
      answerByFunction(exchange, database, query, RequestObject.of(exchange, body));
      return;
    }
    ChangesReader changes = reader(exchange);
    boolean isSocket = new WebSocketUpgrade(exchange).isWanted();
    if (!isSocket && (!query.feed().isLive() || exchange.isHead())) {
      exchange.streamFeedTagged(() -> tagged(exchange, changes, database, query));
    } else if (query.feed().descending()) {
      feeds.serve(
          exchange,
          query.feed(),
          () -> {
            Before<FeedPosition> newest = newest(changes, database, query.feed());
            return changes.liveDownFrom(database, query.options(), newest);
          });
    } else {
      feeds.serve(exchange, query.feed(), () -> live(changes, database, query));
    }
  }

  /**
   * A feed that a function filters waits for the function, and must not hold a reader's thread
   * meanwhile. So the normal one is read like a live one, up to where the database is.
   */
  private void answerByFunction(
      Exchange exchange, DatabaseName database, ChangesQuery query, RequestObject request) {
    ChangesReader changes = reader(exchange);
    DatabaseRequest asked = exchange.database();
    DesignFunction function = query.function().get();
    boolean isSocket = new WebSocketUpgrade(exchange).isWanted();
    FeedQuery<FeedPosition> feed = query.feed();
    Function<FunctionFilter, LiveStart<FeedPosition>> live =
        filter -> live(changes, database, query.filteredBy(filter));
    if (!isSocket && exchange.isHead()) {
      exchange.answer(
          () -> {
            functions.open(asked, function, request, live).closing().run();
            return new Reply(200, Headers.JSON, Buffer.buffer(), List.of());
          });
      return;
    }
    exchange.held().holdsFilter(request.memory());
    if (feed.descending()) {
      Function<FunctionFilter, LiveStart<Before<FeedPosition>>> down =
          filter ->
              changes.liveDownFrom(
                  database, query.filteredBy(filter).options(), newest(changes, database, feed));
      feeds.serve(exchange, feed, () -> functions.open(asked, function, request, down));
    } else {
      boolean isNormal = !(isSocket || feed.isLive() || feed.until().isPresent());
      Function<FunctionFilter, LiveStart<FeedPosition>> bounded =
          filter -> {
            LiveStart<FeedPosition> start = live.apply(filter);
            return isNormal ? start.until(changes.position(database, Since.now())) : start;
          };
      feeds.serve(exchange, feed, () -> functions.open(asked, function, request, bounded));
    }
  }

  /** A message of a socket is written whole, and attachments may be longer than the heap. */
  private static void refuseBytesOverSocket(Exchange exchange, ChangesQuery query) {
    if (query.options().hasBytes() && new WebSocketUpgrade(exchange).isWanted()) {
      throw LectusException.badRequest(
          "attachments=true is not available over WebSockets; feed=continuous has it.");
    }
  }

  private ChangesReader reader(Exchange exchange) {
    ChangesReader readable = everything.readBy(exchange.user());
    return exchange.target().segments().size() == 2
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
            && !query.feed().isLive()
            && !(query.options().filter() instanceof FeedFilter.OfFeed);
    FeedQuery<FeedPosition> feed = query.feed();
    if (feed.until().isPresent() && !feed.descending()) {
      Optional<EntityTag> tag =
          isNamedByUrl ? Optional.of(tag(changes.updateSequence(database))) : Optional.empty();
      PagedBody bounded =
          new BoundedFeed<>(live(changes, database, query), feed.limit(), exchange.user());
      return new StreamedBody(tag, changes.filled(database, query.options(), bounded));
    }
    NormalFeed normal =
        feed.descending()
            ? changes.answerDownFrom(
                database, query.options(), newest(changes, database, feed), feed.limit())
            : changes.answer(database, query.options(), feed.since(), feed.limit());
    return new StreamedBody(
        () -> isNamedByUrl ? normal.end().map(it -> tag(it.sequence())) : Optional.empty(),
        changes.filled(database, query.options(), normal));
  }

  /** The answer of a feed only changes when the database's last sequence does. */
  private static EntityTag tag(Optional<Sequence> last) {
    return new EntityTag(last.map(Sequence::toString).orElse("0"));
  }

  private static Before<FeedPosition> newest(
      ChangesReader changes, DatabaseName database, FeedQuery<FeedPosition> feed) {
    return feed.shownBefore()
        .map(shown -> changes.position(database, shown))
        .or(() -> feed.until().map(until -> changes.position(database, until).rightBehind()))
        .map(Before::bound)
        .orElseGet(Before::end);
  }

  private LiveStart<FeedPosition> live(
      ChangesReader changes, DatabaseName database, ChangesQuery query) {
    FeedQuery<FeedPosition> feed = query.feed();
    LiveStart<FeedPosition> start = changes.live(database, query.options(), feed.since(), events);
    return feed.until().map(until -> start.until(changes.position(database, until))).orElse(start);
  }

  /** Estimates the memory of a parsed filter of a request for changes. */
  private static final class FilterMemory {
    /**
     * A short string in a set, or a value in a tree, with the references to it; and an id in the
     * index by which a tail finds its listeners.
     */
    private static final int VALUE_BYTES = 220;

    /** Text is held as it came and in the form that a filter compares with. */
    private static final int TEXT_COPIES = 2;

    private FilterMemory() {}

    /** Returns an upper bound, in bytes, for a filter in the URL; 0 if there is none. */
    static long of(QueryParameters query) {
      QueryParameters lowered = query.inLowerCase();
      return Stream.of("doc_ids", "channels", "channel")
          .flatMap(name -> lowered.texts(name).stream())
          .mapToLong(text -> of(text.getBytes(StandardCharsets.UTF_8)))
          .sum();
    }

    /**
     * Returns an upper bound, in bytes, before anything is parsed.
     *
     * @param json the body
     */
    static long of(byte[] json) {
      long values = 1;
      for (byte octet : json) {
        if (octet == ',' || octet == '[' || octet == '{') {
          values++;
        }
      }
      return VALUE_BYTES * values + (long) TEXT_COPIES * json.length;
    }
  }

  /**
   * The parameters of {@code _changes}.
   *
   * @param options what the rows show
   * @param function of a design document that filters the rows, if the options do not
   */
  private record ChangesQuery(
      FeedQuery<FeedPosition> feed, FeedOptions options, Optional<DesignFunction> function) {

    /**
     * @param body of a POST; null for GET
     * @throws LectusException {@code bad_request}
     */
    static ChangesQuery parse(Exchange exchange, byte[] body) {
      QueryParameters query = exchange.query().inLowerCase();
      FeedQuery<FeedPosition> feed =
          FeedQuery.parse(query, exchange.lastEventId(), FeedPosition::since);
      ChangesOptions options = ChangesOptions.ofQuery(query, body);
      return new ChangesQuery(feed, options.compile(), options.function());
    }

    ChangesQuery filteredBy(FunctionFilter filter) {
      return new ChangesQuery(feed, options.filteredBy(filter), Optional.empty());
    }
  }
}
