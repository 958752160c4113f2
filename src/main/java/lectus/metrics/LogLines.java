package lectus.metrics;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.function.Function;
import java.util.regex.Pattern;
import lectus.metrics.LogFormat.LogTime;
import org.slf4j.event.Level;

/**
 * Lines of the log for events: time, level, logger, the fields that came with an event, its
 * message, and the trace of an exception.
 */
public final class LogLines extends EncoderBase<ILoggingEvent> {
  private static final byte[] NOTHING = new byte[0];

  private final Function<ILoggingEvent, String> form;

  private LogLines(Function<ILoggingEvent, String> form) {
    this.form = form;
  }

  static LogLines of(LogFormat format) {
    return new LogLines(format == LogFormat.JSON ? LogLines::json : LogLines::text);
  }

  /** Returns lines of messages that are lines already. */
  static LogLines whole() {
    return new LogLines(ILoggingEvent::getFormattedMessage);
  }

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    return form.apply(event).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }

  /** Returns a line of JSON without its end, for what is told beside the log. */
  public static String json(Level level, String logger, String message) {
    StringBuilder line = new StringBuilder();
    begin(LogFormat.JSON, line, Instant.now(), level.toString(), logger);
    LogFormat.JSON.text(line, "message", message);
    return line.append('}').toString();
  }

  private static String json(ILoggingEvent event) {
    StringBuilder line = begun(LogFormat.JSON, event);
    LogFormat.JSON.text(line, "message", String.valueOf(event.getFormattedMessage()));
    if (event.getThrowableProxy() != null) {
      LogFormat.JSON.text(line, "trace", ThrowableProxyUtil.asString(event.getThrowableProxy()));
    }
    LogFormat.JSON.end(line);
    return line.toString();
  }

  /**
   * A message may have text that a client sent: control characters are replaced, so that it can
   * neither begin a line nor control a terminal. In a trace, only lines of a trace's own form
   * remain lines.
   */
  private static String text(ILoggingEvent event) {
    StringBuilder line = begun(LogFormat.TEXT, event).append(' ');
    String message = String.valueOf(event.getFormattedMessage());
    for (int i = 0; i < message.length(); i++) {
      char c = message.charAt(i);
      line.append(Character.isISOControl(c) ? '?' : c);
    }
    LogFormat.TEXT.end(line);
    if (event.getThrowableProxy() != null) {
      line.append(Traces.visible(ThrowableProxyUtil.asString(event.getThrowableProxy())));
    }
    return line.toString();
  }

  private static StringBuilder begun(LogFormat format, ILoggingEvent event) {
    StringBuilder line = new StringBuilder(256);
    begin(format, line, event.getInstant(), event.getLevel().toString(), event.getLoggerName());
    format.fields(line, event);
    return line;
  }

  private static void begin(
      LogFormat format, StringBuilder line, Instant time, String level, String logger) {
    LogTime clock = new LogTime(Clock.fixed(time, ZoneOffset.UTC));
    format.begin(line, clock, level, logger.substring(logger.lastIndexOf('.') + 1));
  }

  /** Compiled with the first trace, which a start does without. */
  private static final class Traces {
    private static final Pattern FOREIGN =
        Pattern.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]|\n(?!\t|Caused by: |\\z)");

    static String visible(String trace) {
      return FOREIGN.matcher(trace).replaceAll("?");
    }
  }
}
