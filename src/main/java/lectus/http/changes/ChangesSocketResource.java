package lectus.http.changes;

import io.vertx.core.Context;
import io.vertx.core.http.ServerWebSocket;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.Services;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Failures;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.http.live.FeedClient;
import lectus.http.live.LiveFeeds;
import lectus.http.live.SocketFeeds;
import lectus.http.message.Method;
import lectus.http.socket.ChangesSession;
import lectus.http.socket.OpenSessions;
import lectus.http.socket.TextSocket;
import lectus.http.socket.WebSocketSettings;

/** {@code /_changes}: a WebSocket for the changes of any number of databases. */
final class ChangesSocketResource implements Resource {
  private final Services services;
  private final HttpSettings settings;
  private final LiveFeeds feeds;
  private final OpenSessions sessions;

  ChangesSocketResource(
      Services services, HttpSettings settings, LiveFeeds feeds, OpenSessions sessions) {
    this.services = services;
    this.settings = settings;
    this.feeds = feeds;
    this.sessions = sessions;
  }

  @Override
  public void serve(Exchange exchange) {
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
          "The client must offer the subprotocol "
              + ChangesSession.PROTOCOL
              + " (Sec-WebSocket-Protocol).");
    }
    upgrade
        .accept(Optional.of(ChangesSession.PROTOCOL))
        .onComplete(socket -> begin(exchange, socket), exchange::fail);
  }

  /** What stays with the socket leaves the request behind. */
  private void begin(Exchange exchange, ServerWebSocket webSocket) {
    Context context = exchange.context();
    String request = exchange.id();
    WebSocketSettings limits = settings.webSockets();
    TextSocket socket =
        new TextSocket(
            context.owner(),
            feeds.clock(),
            webSocket,
            limits,
            services.memory().messages(),
            settings.pingMillis(OptionalLong.empty()));
    new ChangesSession(
            socket,
            new SocketFeeds(services, feeds, FeedClient.of(exchange)),
            limits.maxSubscriptions(),
            failure -> Failures.errorOf(failure, request),
            sessions,
            services.memory())
        .start();
  }
}
