package lectus.http.exchange;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.HttpDate;
import lectus.http.HttpSettings;
import lectus.http.HttpSettings.LogSettings;
import lectus.http.exchange.RequestTiming.SlowRequests;
import lectus.http.exchange.Services.PerRequest;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.RequestThreads;
import lectus.metrics.LogFormat;
import lectus.metrics.LogFormat.LogTime;
import lectus.metrics.RequestLabel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The objects that the exchanges of one event loop share. */
public final class HttpLoop {
  private static final long SECOND_MILLIS = 1_000;

  /** Names of databases that were checked. */
  private static final int MAX_NAMES = 1_000;

  private final Catalogue catalogue;
  final ClientMemory memory;
  final RequestThreads readers;
  private final RequestMetrics requests;
  private final Optional<Tracing> tracing;
  final Supplier<HttpSettings> settings;
  private final AccessLog accessLog;

  /** Empty: nobody wants to know of slow requests. */
  private final Optional<SlowRequests> slowRequests;

  private final BodyDeadlines bodyDeadlines;
  private final CharSequence serverHeader;
  private final Forwarding forwarding;
  private final Map<String, DatabaseName> names = new HashMap<>();

  /** Formatted once a second for all answers. */
  private String httpDate = HttpDate.format(Instant.now());

  /**
   * @param live may change at any time; limits of connections and the log are as now
   */
  public HttpLoop(
      Catalogue catalogue, PerRequest shared, Supplier<HttpSettings> live, Forwarding forwarding) {
    HttpSettings settings = live.get();
    this.catalogue = catalogue;
    this.memory = shared.memory();
    this.readers = shared.readers();
    this.requests = shared.figures().requests();
    this.tracing = shared.tracing();
    this.settings = live;
    this.forwarding = forwarding;
    this.accessLog = new AccessLog(settings.server().log(), Clock.systemUTC());
    int slowMillis = settings.server().log().slowMillis();
    this.slowRequests =
        slowMillis > 0
            ? Optional.of(new SlowRequests(slowMillis, System::nanoTime))
            : Optional.empty();
    this.bodyDeadlines = new BodyDeadlines(settings.requests().slowBodySeconds());
    this.serverHeader = HttpHeaders.createOptimized(settings.server().header());
  }

  /** Starts what happens every second, on the calling event loop, until that context is closed. */
  public void start(Vertx vertx) {
    vertx.setPeriodic(
        SECOND_MILLIS,
        timer -> {
          httpDate = HttpDate.format(Instant.now());
          bodyDeadlines.secondPassed();
        });
  }

  /** Writes what the access log still holds; later lines are written at once. */
  public void closeLog() {
    accessLog.close();
  }

  Catalogue catalogue() {
    return catalogue;
  }

  Forwarding forwarding() {
    return forwarding;
  }

  BodyDeadlines bodyDeadlines() {
    return bodyDeadlines;
  }

  CharSequence serverHeader() {
    return serverHeader;
  }

  String httpDate() {
    return httpDate;
  }

  /**
   * Returns the database of a name in a path, which is checked once.
   *
   * @throws LectusException {@code not_found}: no database can have this name
   */
  DatabaseName database(String text) {
    DatabaseName known = names.get(text);
    return known != null ? known : checked(text);
  }

  private DatabaseName checked(String text) {
    if (!DatabaseName.isLegal(text)) {
      throw LectusException.notFound("Database does not exist.");
    }
    if (names.size() == MAX_NAMES) {
      names.clear();
    }
    DatabaseName name = DatabaseName.of(text);
    names.put(text, name);
    return name;
  }

  /** Returns what notes how a request fares from now on; counts it. */
  RequestTiming begun(HttpServerRequest request) {
    requests.begun();
    return new RequestTiming(
        tracing.flatMap(it -> it.begin(request.headers().getAll(Headers.TRACEPARENT))),
        slowRequests);
  }

  /** Counts a request that has been answered, and logs it. */
  void answered(Exchange exchange, int status, long bodyBytes) {
    RouteTemplate route = exchange.route();
    requests.answered(route, exchange.method().name(), status, bodyBytes);
    if (!exchange.isFeed()) {
      requests.took(route, System.nanoTime() - exchange.startNanos());
    }
    accessLog.record(exchange, status, bodyBytes);
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
    private final LogFormat form;
    private final LogTime time;
    private final StringBuilder lines = new StringBuilder();
    private boolean closed;

    AccessLog(LogSettings settings, InstantSource clock) {
      this.enabled = settings.access() && LOG.isInfoEnabled();
      this.form = settings.format();
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
