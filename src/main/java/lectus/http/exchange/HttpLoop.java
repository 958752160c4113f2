package lectus.http.exchange;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.time.Clock;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.database.Catalogue;
import lectus.http.HttpSettings;
import lectus.http.LogSettings;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.ReaderTurns;
import lectus.http.message.Headers;
import lectus.http.message.Method;
import lectus.metrics.LineForm;
import lectus.metrics.LogTime;
import lectus.metrics.RequestLabel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The objects that the exchanges of one event loop share. */
public final class HttpLoop {
  private final ClientMemory memory;
  private final ReaderTurns readers;
  private final RequestMetrics figures;
  private final Optional<Tracing> tracing;
  private final Supplier<HttpSettings> settings;
  private final Cors cors;
  private final DatabaseFirst databaseFirst;
  private final AccessLog accessLog;
  private final SlowRequests slowRequests;
  private final HttpClock clock = new HttpClock(Clock.systemUTC());
  private final BodyDeadlines bodyDeadlines;
  private final CharSequence serverHeader;

  /**
   * @param live may change at any time; limits of connections and the log are as now
   */
  public HttpLoop(
      Catalogue catalogue,
      ClientMemory memory,
      ReaderTurns readers,
      RequestMetrics figures,
      Optional<Tracing> tracing,
      Supplier<HttpSettings> live) {
    HttpSettings settings = live.get();
    this.memory = memory;
    this.readers = readers;
    this.figures = figures;
    this.tracing = tracing;
    this.settings = live;
    this.cors = new Cors(() -> live.get().cors());
    this.databaseFirst = new DatabaseFirst(catalogue);
    this.accessLog = new AccessLog(settings.log(), Clock.systemUTC());
    this.slowRequests = new SlowRequests(settings.log().slowMillis(), System::nanoTime);
    this.bodyDeadlines = new BodyDeadlines(settings.slowBodySeconds());
    this.serverHeader = HttpHeaders.createOptimized(settings.serverHeader());
  }

  /** Starts the clock on the calling event loop. */
  public void start(Vertx vertx) {
    clock.start(vertx);
    bodyDeadlines.start(vertx);
  }

  /** Writes what the access log still holds; later lines are written at once. */
  public void closeLog() {
    accessLog.close();
  }

  /** Answers a CORS preflight request if it can be granted; else does nothing. */
  public boolean answerPreflight(Exchange exchange) {
    return exchange.method() == Method.OPTIONS && cors.preflight(exchange);
  }

  ClientMemory memory() {
    return memory;
  }

  ReaderTurns readers() {
    return readers;
  }

  HttpSettings settings() {
    return settings.get();
  }

  Cors cors() {
    return cors;
  }

  /** Whether pages of this origin may use the server, though they came from elsewhere. */
  public boolean allowsOrigin(String origin) {
    return cors.allows(origin);
  }

  DatabaseFirst databaseFirst() {
    return databaseFirst;
  }

  /** Counts a request that is to be recorded later. */
  void begun() {
    figures.begun();
  }

  /** Counts a request that has been answered, and logs it. */
  void record(Exchange exchange, int status, long bodyBytes) {
    RouteTemplate route = route(exchange);
    figures.answered(route, exchange.method().name(), status, bodyBytes);
    if (!exchange.isFeed()) {
      figures.took(route, System.nanoTime() - exchange.startNanos());
    }
    accessLog.record(exchange, status, bodyBytes);
  }

  /** Returns the kind of resource that a request asks for. */
  static RouteTemplate route(Exchange exchange) {
    return exchange.isAimed() ? RouteTemplate.of(exchange.segments()) : RouteTemplate.unknown();
  }

  /** Returns what notes how a request fares from now on. */
  RequestTiming course(HttpServerRequest request) {
    return new RequestTiming(
        tracing.flatMap(it -> it.begin(request.headers().getAll(Headers.TRACEPARENT))),
        slowRequests.isOn());
  }

  SlowRequests slowRequests() {
    return slowRequests;
  }

  HttpClock clock() {
    return clock;
  }

  BodyDeadlines bodyDeadlines() {
    return bodyDeadlines;
  }

  CharSequence serverHeader() {
    return serverHeader;
  }

  /**
   * The access log, one line for each request: time in UTC, level, logger, then the request's
   * method, path (as it was sent), user (if one is logged in), database (if the path has one),
   * status, bytes of the body, duration in microseconds, the client's address, request id.
   *
   * <p>An event loop hands over its lines many at a time, and whole, so that the log's thread wakes
   * up and writes once for a hundred requests. Used on that event loop only.
   */
  private static final class AccessLog {
    private static final Logger LOG = LoggerFactory.getLogger("lectus.access");

    private static final int BATCH_CHARS = 16 << 10;
    private static final int LONGEST_WAIT_MILLIS = 100;

    private final boolean enabled;
    private final LineForm form;
    private final LogTime time;
    private final StringBuilder lines = new StringBuilder();
    private boolean closed;

    AccessLog(LogSettings settings, InstantSource clock) {
      this.enabled = settings.access() && LOG.isInfoEnabled();
      this.form = settings.format().form();
      this.time = new LogTime(clock);
    }

    void record(Exchange exchange, int status, long bodyBytes) {
      if (!enabled) {
        return;
      }
      boolean first = lines.isEmpty();
      append(exchange, status, bodyBytes);
      if (closed || lines.length() >= BATCH_CHARS) {
        flush();
      } else if (first) {
        exchange.afterMillis(LONGEST_WAIT_MILLIS, this::flush);
      }
    }

    private void append(Exchange exchange, int status, long bodyBytes) {
      long micros = (System.nanoTime() - exchange.startNanos()) / 1_000;
      RequestLabel label = exchange.label();
      form.begin(lines, time, "INFO", "access");
      form.sent(lines, "method", exchange.request().method().name());
      form.sent(lines, "path", exchange.rawPath());
      label.user().ifPresent(name -> form.text(lines, "user", name));
      label.database().ifPresent(name -> form.text(lines, "db", name));
      form.number(lines, "status", status);
      form.number(lines, "bytes", bodyBytes);
      form.number(lines, "micros", micros);
      form.sent(lines, "client", ClientAddress.of(exchange));
      form.text(lines, "request", label.id());
      form.end(lines);
    }

    private void flush() {
      if (!lines.isEmpty()) {
        LOG.info(lines.toString());
        lines.setLength(0);
      }
    }

    /** Hands over the lines that wait; later lines are handed over at once. */
    void close() {
      closed = true;
      flush();
    }
  }
}
