package lectus.metrics;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.slf4j.event.KeyValuePair;
import org.slf4j.event.Level;

/**
 * One JSON object for each event: time, level, logger, the fields that came with it, the message,
 * and the trace of an exception.
 */
public final class JsonLines extends EncoderBase<ILoggingEvent> {
  private static final byte[] NOTHING = new byte[0];

  private static final LineForm FORM = new JsonForm();

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    StringBuilder line = new StringBuilder(256);
    begin(line, event.getInstant(), event.getLevel().toString(), event.getLoggerName());
    List<KeyValuePair> fields = event.getKeyValuePairs();
    if (fields != null) {
      fields.forEach(field -> append(line, field));
    }
    FORM.text(line, "message", String.valueOf(event.getFormattedMessage()));
    if (event.getThrowableProxy() != null) {
      FORM.text(line, "trace", ThrowableProxyUtil.asString(event.getThrowableProxy()));
    }
    FORM.end(line);
    return line.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }

  /** Returns a line without its end, for what is told beside the log. */
  public static String of(Level level, String logger, String message) {
    StringBuilder line = new StringBuilder();
    begin(line, Instant.now(), level.toString(), logger);
    FORM.text(line, "message", message);
    return line.append('}').toString();
  }

  private static void begin(StringBuilder line, Instant time, String level, String logger) {
    LogTime clock = new LogTime(Clock.fixed(time, ZoneOffset.UTC));
    FORM.begin(line, clock, level, logger.substring(logger.lastIndexOf('.') + 1));
  }

  private static void append(StringBuilder line, KeyValuePair field) {
    if (field.value instanceof Number number) {
      FORM.number(line, field.key, number.longValue());
    } else if (field.value instanceof SentText sent) {
      FORM.sent(line, field.key, sent.text());
    } else {
      FORM.text(line, field.key, String.valueOf(field.value));
    }
  }
}
