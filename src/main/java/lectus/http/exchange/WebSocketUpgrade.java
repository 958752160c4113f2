package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.ServerWebSocket;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Headers;

/** Turns a request's connection into a WebSocket (RFC 6455, section 4.2). */
public final class WebSocketUpgrade {
  private static final CharSequence KEY = HttpHeaders.createOptimized("Sec-WebSocket-Key");
  private static final CharSequence PROTOCOL =
      HttpHeaders.createOptimized("Sec-WebSocket-Protocol");

  private static final int KEY_BYTES = 16;

  private final Exchange exchange;

  public WebSocketUpgrade(Exchange exchange) {
    this.exchange = exchange;
  }

  /** Whether the client asks for a WebSocket instead of an answer. */
  public boolean isWanted() {
    return words(HttpHeaders.UPGRADE).contains("websocket");
  }

  /** Returns the subprotocols that the client offers. */
  public List<String> offered() {
    return wordsAsSent(PROTOCOL);
  }

  /**
   * Returns the open socket, on the connection's event loop. A page of an origin that may not use
   * the server is refused here, because browsers let every page open a WebSocket to any server (RFC
   * 6455, section 10.2).
   *
   * @param protocol the one chosen of those that were offered
   * @throws LectusException bad_request, forbidden or upgrade_required; nothing was answered
   */
  public Future<ServerWebSocket> accept(Optional<String> protocol) {
    check();
    chooseOfSeveral();
    HttpServerResponse response = exchange.response();
    response.putHeader(Headers.SERVER, exchange.loop().serverHeader());
    response.putHeader(Headers.REQUEST_ID, exchange.id());
    protocol.ifPresent(chosen -> response.putHeader(PROTOCOL, chosen));
    return exchange
        .request()
        .toWebSocket()
        .recover(failure -> Future.failedFuture(Failures.ofReading(failure)))
        .onSuccess(socket -> exchange.upgraded());
  }

  /**
   * The client may offer other protocols in {@code Upgrade}, too (RFC 9110, section 7.8), and may
   * split {@code Connection} into several lines (section 5.3). Vert.x expects one line of each,
   * with a single protocol.
   */
  void chooseOfSeveral() {
    exchange.request().headers().set(HttpHeaders.UPGRADE, HttpHeaders.WEBSOCKET);
    exchange.request().headers().set(HttpHeaders.CONNECTION, HttpHeaders.UPGRADE);
  }

  /**
   * Checks whether the socket may be opened.
   *
   * @throws LectusException bad_request, forbidden or upgrade_required; nothing was answered
   */
  public void check() {
    checkHandshake();
    checkOrigin();
  }

  /** The request's own method has to be GET (RFC 6455, section 4.1); an override does not count. */
  private void checkHandshake() {
    if (exchange.request().method() != HttpMethod.GET) {
      throw Requests.notAllowed("GET");
    }
    if (!isWanted() || !words(HttpHeaders.CONNECTION).contains("upgrade")) {
      throw upgradeRequired("This is a WebSocket: the request must ask for an upgrade.");
    }
    if (exchange.request().version() == HttpVersion.HTTP_1_0) {
      throw LectusException.badRequest("A WebSocket needs HTTP/1.1.");
    }
    if (!isUri(exchange.uri())) {
      throw LectusException.badRequest("invalid_url_encoding");
    }
    if (!Headers.WEBSOCKET_13.equals(exchange.header(Headers.WEBSOCKET_VERSION))) {
      throw upgradeRequired("Sec-WebSocket-Version must be 13.");
    }
    if (!isKey(exchange.header(KEY))) {
      throw LectusException.badRequest("Sec-WebSocket-Key must be 16 bytes in base64.");
    }
  }

  public static LectusException upgradeRequired(String reason) {
    return new LectusException(new LectusError.UpgradeRequired(reason));
  }

  /** Vert.x parses it again. */
  private static boolean isUri(String text) {
    try {
      return new URI(text).getRawPath() != null;
    } catch (URISyntaxException notEncoded) {
      return false;
    }
  }

  private static boolean isKey(String key) {
    try {
      return key != null && Base64.getDecoder().decode(key.trim()).length == KEY_BYTES;
    } catch (IllegalArgumentException notBase64) {
      return false;
    }
  }

  private void checkOrigin() {
    String origin = exchange.header(HttpHeaders.ORIGIN);
    if (origin != null && !isOwn(origin) && !exchange.settings().cors().allows(origin)) {
      throw LectusException.forbidden(
          "Pages of this origin may not use the server (cors.origins).");
    }
  }

  /** Whether the page came from this server, under the name by which it addresses it now. */
  private boolean isOwn(String origin) {
    String host = exchange.header(HttpHeaders.HOST);
    int scheme = origin.indexOf("://");
    return host != null && scheme > 0 && host.equalsIgnoreCase(origin.substring(scheme + 3));
  }

  private List<String> words(CharSequence header) {
    return wordsAsSent(header).stream().map(word -> word.toLowerCase(Locale.ROOT)).toList();
  }

  private List<String> wordsAsSent(CharSequence header) {
    return exchange.request().headers().getAll(header).stream()
        .flatMap(line -> Arrays.stream(line.trim().split("\\s*,\\s*")))
        .filter(word -> !word.isEmpty())
        .toList();
  }
}
