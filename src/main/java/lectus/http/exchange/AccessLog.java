package lectus.http.exchange;

import java.time.InstantSource;
import lectus.http.LogSettings;
import lectus.log.LineForm;
import lectus.log.LogTime;
import lectus.log.RequestLabel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The access log, one line for each request: time in UTC, level, logger, then the request's method,
 * path (as it was sent), user (if one is logged in), database (if the path has one), status, bytes
 * of the body, duration in microseconds, the client's address, request id.
 *
 * <p>An event loop hands over its lines many at a time, and whole, so that the log's thread wakes
 * up and writes once for a hundred requests. Used on that event loop only.
 */
final class AccessLog {
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
