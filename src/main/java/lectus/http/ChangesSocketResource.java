package lectus.http;

import io.vertx.core.Context;
import io.vertx.core.http.ServerWebSocket;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.error.LectusException;
import lectus.http.socket.ChangesSession;
import lectus.http.socket.TextSocket;
import lectus.http.socket.WebSocketSettings;

/** {@code /_changes}: a WebSocket for the changes of any number of databases. */
final class ChangesSocketResource implements Resource {
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
  private static void begin(Exchange exchange, ServerWebSocket webSocket) {
    HttpApi api = exchange.api();
    Context context = exchange.context();
    String request = exchange.id();
    WebSocketSettings limits = api.settings().webSockets();
    TextSocket socket =
        new TextSocket(
            context.owner(), webSocket, limits, api.settings().pingMillis(OptionalLong.empty()));
    new ChangesSession(
            socket,
            new SocketFeeds(api, context),
            limits.maxSubscriptions(),
            failure -> Failures.errorOf(failure, request),
            api.openSessions())
        .start();
  }
}
