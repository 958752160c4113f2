package lectus.http.exchange;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.HexFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The access log, one line for each request: time in UTC, level, logger, then {@code key=value}
 * pairs: method, path (as it was sent), user (if one is logged in), status, bytes of the body,
 * duration in microseconds, the client's address, request id.
 *
 * <p>An event loop hands over its lines many at a time, and whole, so that the log's thread wakes
 * up and writes once for a hundred requests. Used on that event loop only.
 */
final class AccessLog {
  private static final Logger LOG = LoggerFactory.getLogger("lectus.access");

  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private static final int BATCH_CHARS = 16 << 10;
  private static final int LONGEST_WAIT_MILLIS = 100;

  private final boolean enabled;
  private final LogTime time;
  private final StringBuilder lines = new StringBuilder();
  private boolean closed;

  AccessLog(boolean enabled, InstantSource clock) {
    this.enabled = enabled && LOG.isInfoEnabled();
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
    time.appendTo(lines);
    lines.append(" INFO  access method=");
    appendVisibly(exchange.request().method().name());
    lines.append(" path=");
    appendVisibly(exchange.rawPath());
    exchange.user().name().ifPresent(this::appendUser);
    lines.append(" status=").append(status);
    lines.append(" bytes=").append(bodyBytes);
    lines.append(" micros=").append(micros);
    lines.append(" client=").append(ClientAddress.of(exchange));
    lines.append(" request=").append(exchange.id()).append('\n');
  }

  /** Percent-encodes what clients ought to have encoded; it could pretend to be a log line. */
  private void appendVisibly(String sent) {
    for (int i = 0; i < sent.length(); i++) {
      char c = sent.charAt(i);
      if (c > ' ' && c < 0x7f) {
        lines.append(c);
      } else {
        HEX.toHexDigits(lines.append('%'), (byte) c);
      }
    }
  }

  /** As it is sent in URLs: a name may have any characters. */
  private void appendUser(String name) {
    lines.append(" user=").append(URLEncoder.encode(name, StandardCharsets.UTF_8));
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
