package lectus.http.changes;

import io.vertx.core.Context;
import io.vertx.core.http.ServerWebSocket;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import lectus.error.LectusException;
import lectus.feed.AdmissionNotices;
import lectus.http.HttpSettings;
import lectus.http.UserUsage;
import lectus.http.clock.IdleClock;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Failures;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.UserKey;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.http.live.FeedClient;
import lectus.http.live.WatchedAdmission;
import lectus.http.memory.ClientMemory;
import lectus.http.message.Method;
import lectus.http.socket.ChangesSession;
import lectus.http.socket.OpenSessions;
import lectus.http.socket.SubscriptionFeeds;
import lectus.http.socket.SubscriptionQuota;
import lectus.http.socket.TextSocket;
import lectus.http.socket.WebSocketSettings;
import lectus.log.RequestLabel;

/** {@code /_changes}: a WebSocket for the changes of any number of databases. */
final class ChangesSocketResource implements Resource {
  private final Function<FeedClient, SubscriptionFeeds> feeds;
  private final HttpSettings settings;
  private final IdleClock clock;
  private final Runnable givenUp;
  private final OpenSessions sessions;
  private final ClientMemory memory;
  private final AdmissionNotices admissions;
  private final UserUsage usage;

  /**
   * @param feeds makes what the subscriptions of one client listen with
   * @param givenUp told when a socket is closed because nothing moved
   */
  ChangesSocketResource(
      Function<FeedClient, SubscriptionFeeds> feeds,
      HttpSettings settings,
      IdleClock clock,
      Runnable givenUp,
      OpenSessions sessions,
      ClientMemory memory,
      AdmissionNotices admissions,
      UserUsage usage) {
    this.usage = usage;
    this.admissions = admissions;
    this.feeds = feeds;
    this.settings = settings;
    this.clock = clock;
    this.givenUp = givenUp;
    this.sessions = sessions;
    this.memory = memory;
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

  /** Passes on what the socket keeps, so that the request can be collected. */
  private void begin(Exchange exchange, ServerWebSocket webSocket) {
    Context context = exchange.context();
    RequestLabel request = exchange.label();
    WebSocketSettings limits = settings.webSockets();
    TextSocket socket =
        new TextSocket(
            context.owner(),
            clock,
            webSocket,
            limits,
            memory.messages(),
            settings.pingMillis(OptionalLong.empty()),
            givenUp);
    ChangesSession session =
        new ChangesSession(
            socket,
            feeds.apply(FeedClient.of(exchange)),
            limits.maxSubscriptions(),
            failure -> Failures.errorOf(failure, request),
            sessions,
            memory,
            quota(exchange));
    session.start();
    session.closeWithIt(
        new WatchedAdmission(admissions, context, exchange.caller().admission(), session::dismiss));
  }

  private SubscriptionQuota quota(Exchange exchange) {
    int most = settings.access().limits().subscriptions();
    if (most == 0) {
      return SubscriptionQuota.NONE;
    }
    String user = UserKey.of(exchange);
    return new SubscriptionQuota(
        () -> usage.subscribe(user, most), () -> usage.unsubscribe(user), most);
  }
}
