package lectus.http.api;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerBuilder;
import io.vertx.core.http.HttpServerConfig;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.JdkSSLEngineOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.database.LiveSettings;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Authority;
import lectus.http.HttpSettings;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.IpLiteral;
import lectus.http.Method;
import lectus.http.RequestTarget;
import lectus.http.ServedSettings;
import lectus.http.auth.AccessApi;
import lectus.http.changes.ChangesSession.OpenSessions;
import lectus.http.changes.LiveFeeds;
import lectus.http.exchange.ClientAddress;
import lectus.http.exchange.ClientConnection;
import lectus.http.exchange.Cors;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Forwarding;
import lectus.http.exchange.HttpLoop;
import lectus.http.exchange.Services;
import lectus.http.exchange.Services.PerRequest;
import lectus.http.exchange.StreamWindow;
import lectus.http.limits.RequestThreads;
import lectus.http.limits.VertxInternals;
import lectus.metrics.Stage;

/**
 * CouchDB's HTTP interface, for one event loop: takes requests, finds their resources and answers
 * errors. Requests are dispatched by the raw URI. A router would normalize the path, and a document
 * called {@code .} could not be told from its database.
 */
public final class HttpApi implements Handler<HttpServerRequest> {
  private static final int CHUNK_BYTES = 64 << 10;

  /** How many requests a client may give up within half a minute, before its connection ends. */
  private static final int MAX_RESETS = 1_000;

  /** Bytes of a request line beside the URI. */
  private static final int LONGEST_METHOD_AND_VERSION = 32;

  /** So many writes are sent at once, even within a turn. */
  private static final int MAX_GATHERED = 256;

  private static final CharSequence TRANSPORT_SECURITY =
      HttpHeaders.createOptimized("Strict-Transport-Security");

  private final HttpSettings settings;
  private final int maxUriLength;
  private final Supplier<HttpSettings> live;
  private final AccessApi access;
  private final Routes routes;
  private final HttpLoop loop;
  private final Forwarding forwarding;
  private final LiveFeeds liveFeeds;
  private final OpenSessions openSessions = new OpenSessions();
  private final UnhurriedClose connections = new UnhurriedClose();
  private final IdleConnections idle;
  private final RequestThreads threads;

  /** The value of {@link #TRANSPORT_SECURITY}; empty: it is not wanted. */
  private final Optional<CharSequence> transportSecurity;

  /**
   * @param settings as at the start
   */
  public HttpApi(Services services, HttpSettings settings) {
    this.settings = settings;
    this.maxUriLength = settings.connections().maxUriLength();
    LiveSettings<ServedSettings> served = services.server().settings().live();
    this.live = () -> served.current().http();
    PerRequest shared = services.perRequest();
    this.forwarding =
        new Forwarding(
            services.server().caller(),
            services.changes().sessions(),
            services.databases().events());
    this.loop = new HttpLoop(services.databases().catalogue(), shared, live, forwarding);
    int hstsSeconds = settings.server().hstsSeconds();
    this.transportSecurity =
        hstsSeconds > 0
            ? Optional.of(HttpHeaders.createOptimized("max-age=" + hstsSeconds))
            : Optional.empty();
    this.threads = shared.readers();
    this.liveFeeds =
        new LiveFeeds(
            services.changes().tails(),
            services.changes().sessions(),
            shared.figures().deliveries(),
            settings);
    this.access = new AccessApi(services, () -> live.get().access());
    this.routes = new Routes(services, settings, live, liveFeeds, openSessions, access);
    this.idle =
        new IdleConnections(
            liveFeeds.clock(),
            settings.connections().idleTimeoutSeconds(),
            settings.connections().stalledSeconds(),
            shared.memory().pages(),
            shared.figures().deliveries());
  }

  /**
   * Creates a server that is ready to listen, for the calling event loop.
   *
   * @param tls empty: its connections are not encrypted
   */
  public HttpServer createServer(Vertx vertx, Optional<ServerSSLOptions> tls) {
    loop.start(vertx);
    HttpServerBuilder builder = vertx.httpServerBuilder().with(new HttpServerConfig(options()));
    // Signing takes milliseconds, during which an event loop would serve nobody.
    tls.ifPresent(
        options -> builder.with(options).with(new JdkSSLEngineOptions().setUseWorkerThread(true)));
    return builder
        .withConnectHandler(connection -> watch(vertx, connection))
        .build()
        .requestHandler(this)
        .invalidRequestHandler(this::refuse);
  }

  private HttpServerOptions options() {
    return new HttpServerOptions()
        .setMaxInitialLineLength(maxUriLength + LONGEST_METHOD_AND_VERSION)
        .setMaxHeaderSize(settings.connections().maxHeaderBytes())
        .setMaxChunkSize(CHUNK_BYTES)
        .setInitialSettings(http2())
        .setHttp2ConnectionWindowSize(
            StreamWindow.ofConnection(settings.connections().maxStreams()))
        .setHttp2RstFloodMaxRstFramePerWindow(MAX_RESETS)
        .setTcpNoDelay(true)
        .setMaxWebSocketFrameSize(settings.webSockets().maxMessageBytes())
        // Deflating needs hundreds of kilobytes for each socket, and every browser offers it.
        .setPerMessageWebSocketCompressionSupported(false)
        .setPerFrameWebSocketCompressionSupported(false);
  }

  private Http2Settings http2() {
    return new Http2Settings()
        .setMaxConcurrentStreams(settings.connections().maxStreams())
        .setMaxHeaderListSize(settings.connections().maxHeaderBytes())
        .setInitialWindowSize(StreamWindow.FIRST_BYTES);
  }

  /**
   * Keeps connection failures out of the log. They are the client's doing, and Vert.x would log
   * each with a stack trace.
   */
  private void watch(Vertx vertx, HttpConnection connection) {
    connection.exceptionHandler(failure -> {});
    ChannelHandlerContext context = VertxInternals.handler(connection);
    if (context.handler() instanceof Http2ConnectionHandler http2) {
      ControlFrames.limit(http2, context.channel());
      gatherWrites(context.pipeline());
    } else {
      RequestFraming.watch(context, connections);
    }
    context.pipeline().addFirst(connections);
    // What waits for a client is dropped when its connection is closed, by either side.
    ClientConnection client = ClientConnection.of(context.channel());
    context.channel().closeFuture().addListener(closed -> threads.left(client));
    idle.watch(vertx, context);
  }

  /**
   * Sends what one turn of the event loop writes on the streams of an HTTP/2 connection in few
   * system calls: a document that a hundred feeds of one client show would otherwise take a
   * hundred.
   */
  private static void gatherWrites(ChannelPipeline http2) {
    http2.addFirst(new FlushConsolidationHandler(MAX_GATHERED, true));
  }

  /** Requests beyond a few wait, with all that their connection sends, for the next turn. */
  @Override
  public void handle(HttpServerRequest request) {
    ClientConnection connection = ClientConnection.of(request.connection());
    if (request.version() == HttpVersion.HTTP_2 || connection.takeTurn()) {
      serve(request);
      return;
    }
    Context context = Vertx.currentContext();
    request.pause();
    VertxInternals.inNextTurn(
        request.connection(),
        () -> {
          connection.endTurn();
          context.runOnContext(turn -> serve(request).readOn());
        });
  }

  private Exchange serve(HttpServerRequest request) {
    Exchange exchange = new Exchange(loop, Vertx.currentContext(), request);
    try {
      tellOfTls(exchange);
      exchange.connection().checkRoom();
      checkHost(exchange, settings.hosts());
      checkFields(request);
      exchange.aimAt(
          RequestTarget.parse(exchange.uri(), exchange.settings().requests().decodesPlus()));
      route(exchange);
    } catch (RuntimeException | Error e) {
      exchange.fail(e);
    }
    return exchange;
  }

  private void route(Exchange exchange) {
    if (exchange.method() == Method.OPTIONS && Cors.preflight(exchange)) {
      return;
    }
    if (exchange.uri().length() > maxUriLength) {
      throw new LectusException(new LectusError.UriTooLong("the request uri is too long"));
    }
    Future<Void> admission = access.admit(exchange);
    if (admission.succeeded()) {
      answer(exchange);
    } else {
      answerLater(exchange, admission);
    }
  }

  private void answer(Exchange exchange) {
    if (!exchange.passOn()) {
      routes.find(exchange).serve(exchange);
    }
  }

  private void answerLater(Exchange exchange, Future<Void> admission) {
    exchange.keepForLogIn();
    long begun = exchange.stages().begin();
    admission.onComplete(
        known -> {
          exchange.stages().end(Stage.LOG_IN, begun);
          boolean isAnswered = exchange.response().ended();
          if (!isAnswered && known.succeeded()) {
            exchange.guarded(() -> answer(exchange));
          } else if (!isAnswered) {
            exchange.fail(known.cause());
          }
          exchange.endLogIn();
        });
  }

  /**
   * Ends all live feeds as their clients expect it, each with its last sequence. From now on,
   * connections are closed only after their answers have been sent.
   *
   * @param patience how long to wait for clients that read slowly
   * @return completes when busy clients have been told that their connections end
   */
  public Future<Void> endFeeds(Vertx vertx, Duration patience) {
    Future<Void> told = connections.begin(vertx, patience);
    openSessions.stop();
    liveFeeds.endAll();
    forwarding.endFeeds();
    return told;
  }

  /** Writes what the access log still holds; later lines are written at once. */
  public void closeLog() {
    loop.closeLog();
  }

  /** Tells browsers that came over TLS to come over nothing else (RFC 6797), if this is wanted. */
  private void tellOfTls(Exchange exchange) {
    if (transportSecurity.isPresent() && ClientAddress.isSecure(exchange)) {
      exchange.response().putHeader(TRANSPORT_SECURITY, transportSecurity.get());
    }
  }

  /**
   * Checks the name by which a client addresses the server. It is checked before anything else of a
   * request, because it tells this server's pages from pages that pretend to be.
   *
   * @throws LectusException {@code bad_request}: there is no name, more than one, or none of this
   *     server's
   */
  private static void checkHost(Exchange exchange, HostSettings hosts) {
    HttpServerRequest request = exchange.request();
    List<String> sent = request.headers().getAll(HttpHeaders.HOST);
    HttpVersion version = request.version();
    HostAndPort authority = version == HttpVersion.HTTP_2 ? request.authority() : null;
    boolean isMissing = sent.isEmpty() && authority == null && version != HttpVersion.HTTP_1_0;
    if (sent.size() > 1 || isMissing) {
      throw invalidHost();
    }
    sent.forEach(text -> checkHost(text, hosts, exchange));
    if (authority != null) {
      checkHost(authority.toString(), hosts, exchange);
    }
    RequestTarget.authority(exchange.uri()).ifPresent(text -> checkHost(text, hosts, exchange));
  }

  private static void checkHost(String text, HostSettings hosts, Exchange exchange) {
    ClientConnection connection = exchange.connection();
    boolean isEmpty = text.isEmpty() && hosts.any(); // RFC 9112, section 3.2: no authority
    if (isEmpty || connection.isAllowed(text, hosts)) {
      return;
    }
    Optional<Authority> authority = Authority.parse(text);
    if (authority.isEmpty()
        || !hosts.serve(authority.get().host(), () -> ownAddress(exchange.request()))) {
      throw invalidHost();
    }
    connection.allow(text, hosts);
  }

  private static Optional<InetAddress> ownAddress(HttpServerRequest request) {
    SocketAddress own = request.connection().localAddress();
    return Optional.ofNullable(own)
        .map(SocketAddress::hostAddress)
        .flatMap(text -> IpLiteral.parse(text.replaceFirst("%.*", "")));
  }

  private static LectusException invalidHost() {
    return LectusException.badRequest("invalid host");
  }

  /**
   * Checks the headers that are checked on every request.
   *
   * @throws LectusException {@code bad_request}: a value has control characters, which HTTP/1's
   *     parser refuses and HTTP/2's does not (RFC 9113, section 8.2.1); {@code expectation_failed}
   */
  private static void checkFields(HttpServerRequest request) {
    for (Map.Entry<String, String> field : request.headers()) {
      String value = field.getValue();
      for (int i = 0; i < value.length(); i++) {
        char c = value.charAt(i);
        if ((c < ' ' && c != '\t') || c == 0x7f) {
          throw LectusException.badRequest("A header has control characters.");
        }
      }
    }
    for (String expectation : request.headers().getAll(HttpHeaders.EXPECT)) {
      if (!expectation.isBlank() && !expectation.trim().equalsIgnoreCase("100-continue")) {
        throw new LectusException(
            new LectusError.ExpectationFailed("Nothing but 100-continue can be expected."));
      }
    }
  }

  /** Answers, in CouchDB's form, a request that the HTTP parser could not read. */
  private void refuse(HttpServerRequest unreadable) {
    Throwable cause = unreadable.decoderResult().cause();
    LectusError error =
        cause instanceof TooLongHttpLineException
            ? new LectusError.UriTooLong("the request uri is too long")
            : new LectusError.BadRequest(
                "bad_request",
                cause instanceof TooLongFrameException
                    ? "The request's headers are too long."
                    : "This is no HTTP request.");
    new Exchange(loop, Vertx.currentContext(), unreadable).fail(new LectusException(error));
  }
}
