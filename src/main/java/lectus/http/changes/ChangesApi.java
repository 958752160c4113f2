package lectus.http.changes;

import io.vertx.core.Context;
import io.vertx.core.http.ServerWebSocket;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.changes.notify.StorePosition;
import lectus.changes.notify.StoreUpdates;
import lectus.changes.page.BoundedFeed;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedText;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.NewestFirst.Before;
import lectus.changes.page.Since;
import lectus.database.CreationOptions;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.ShardTopology.Generation;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.HttpSettings.WebSocketSettings;
import lectus.http.Method;
import lectus.http.Reply;
import lectus.http.changes.ChangesSession.OpenSessions;
import lectus.http.exchange.ClientAddress;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.http.exchange.WatchedSession;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * The resources that report changes: of a database, of many databases, and of the list of
 * databases.
 */
public final class ChangesApi {
  private final Services services;
  private final LiveFeeds feeds;

  public ChangesApi(Services services, LiveFeeds feeds) {
    this.services = services;
    this.feeds = feeds;
  }

  /** {@code /{db}/_changes}, and {@code /{db}/_changes/{shard}} for one shard. */
  public Resource changes() {
    return new ChangesResource(
        services.changes().reader(), services.functions(), services.databases().events(), feeds);
  }

  /** {@code /_changes}, a WebSocket. */
  public Resource socket(HttpSettings settings, OpenSessions sessions) {
    return exchange -> serveSocket(exchange, settings, sessions);
  }

  private void serveSocket(Exchange exchange, HttpSettings settings, OpenSessions sessions) {
    if (exchange.method() != Method.GET) {
      throw Requests.notAllowed("GET");
    }
    WebSocketUpgrade upgrade = new WebSocketUpgrade(exchange);
    if (!upgrade.isWanted()) {
      throw WebSocketUpgrade.upgradeRequired(
          "/_changes is a WebSocket with the subprotocol "
              + ChangesSession.PROTOCOL
              + "; /{db}/_changes has the changes of one database as an answer.");
    }
    if (!upgrade.offered().contains(ChangesSession.PROTOCOL)) {
      throw LectusException.badRequest(
          "The client must offer the subprotocol %s (Sec-WebSocket-Protocol)."
              .formatted(ChangesSession.PROTOCOL));
    }
    upgrade
        .accept(Optional.of(ChangesSession.PROTOCOL))
        .onComplete(socket -> begin(exchange, settings, sessions, socket), exchange::fail);
  }

  /** Passes on what the socket keeps, so that the request can be collected. */
  private void begin(
      Exchange exchange, HttpSettings settings, OpenSessions sessions, ServerWebSocket webSocket) {
    Context context = exchange.context();
    WebSocketSettings limits = settings.webSockets();
    TextSocket socket = feeds.socket(exchange, webSocket, OptionalLong.empty());
    ChangesSession session =
        new ChangesSession(
            socket,
            new ChangesSession.Feeds(
                services.changes().reader(),
                services.changes().manyDatabases(),
                services.databases().events(),
                services.functions(),
                feeds,
                FeedClient.of(exchange).ofSocket()),
            limits.maxSubscriptions(),
            exchange.label(),
            sessions,
            services.perRequest().memory(),
            quota(exchange, settings));
    session.start();
    session.closeWithIt(
        new WatchedSession(
            services.changes().sessions(),
            context,
            exchange.identity().session(),
            session::dismiss));
  }

  private ChangesSession.Quota quota(Exchange exchange, HttpSettings settings) {
    int most = settings.access().limits().subscriptions();
    String user = most == 0 ? "" : ClientAddress.userKey(exchange);
    return new ChangesSession.Quota(services.users().usage(), user, most);
  }

  /** {@code /{db}/_changes/_meta}: the shards of a database's changes (RFC 018). */
  public void shards(Exchange exchange) {
    DatabaseName database = exchange.databaseName();
    switch (exchange.method()) {
      case GET, HEAD -> {
        Since<FeedPosition> since = FeedPosition.since(exchange.query().text("since").orElse("0"));
        DatabaseRequest asked = exchange.database();
        exchange.answer(() -> shards(asked, since));
      }
      case PUT -> exchange.answerBodyByChange(body -> reshard(database, count(body)));
      default -> throw Requests.notAllowed("GET,HEAD,PUT");
    }
  }

  private Reply shards(DatabaseRequest database, Since<FeedPosition> since) {
    JsonBuffer out = new JsonBuffer(512);
    services.changes().shards().append(database, since, out);
    return Reply.json(200, out);
  }

  private Reply reshard(DatabaseName database, int count) {
    Generation generation =
        services.changes().shards().reshard(database, count, services.databases().events());
    JsonBuffer out = new JsonBuffer(256);
    out.ascii("{\"ok\":true,\"since\":").string(generation.since().orElseThrow().toString());
    FeedText.appendShards(generation.shards(), out.ascii(",\"shards\":"));
    return Reply.json(202, out.octet('}'));
  }

  /**
   * @throws LectusException {@code bad_request}: not {@code {"shards":N}}
   */
  private static int count(byte[] body) {
    JsonValue shards =
        RequestJson.object(body)
            .get("shards")
            .orElseThrow(() -> LectusException.badRequest("`shards` member must exist."));
    try {
      return Integer.parseInt(shards instanceof JsonValue.JsonNumber number ? number.text() : "");
    } catch (NumberFormatException e) {
      throw CreationOptions.badChangesShards();
    }
  }

  /** {@code /_db_updates}: the databases that are created, updated and deleted. */
  public void databaseUpdates(Exchange exchange) {
    Requests.allow(exchange, "GET");
    FeedQuery<StorePosition> query =
        FeedQuery.parse(exchange.query(), exchange.lastEventId(), StorePosition::since);
    boolean isSocket = new WebSocketUpgrade(exchange).isWanted();
    exchange.encoding().leavePlain();
    if (!isSocket && (!query.isLive() || exchange.isHead())) {
      exchange.streamFeed(
          () ->
              query.descending()
                  ? new BoundedFeed<>(newestFirst(query), query.limit(), exchange.user())
                  : new BoundedFeed<>(oldestFirst(query), query.limit(), exchange.user()));
    } else if (query.descending()) {
      feeds.serve(exchange, query, () -> newestFirst(query));
    } else {
      feeds.serve(exchange, query, () -> live(query));
    }
  }

  private LiveStart<Before<StorePosition>> newestFirst(FeedQuery<StorePosition> query) {
    return updates()
        .downFrom(
            query
                .shownBefore()
                .map(updates()::position)
                .or(() -> query.until().map(updates()::rightBehind)));
  }

  /** With a bound, it may be that no page is read. */
  private LiveStart<StorePosition> oldestFirst(FeedQuery<StorePosition> query) {
    return query.until().isPresent()
        ? live(query)
        : updates().unchecked(query.since(), services.databases().events());
  }

  private LiveStart<StorePosition> live(FeedQuery<StorePosition> query) {
    LiveStart<StorePosition> start = updates().live(query.since(), services.databases().events());
    return query.until().map(updates()::position).map(start::until).orElse(start);
  }

  private StoreUpdates updates() {
    return services.changes().ofStore();
  }
}
