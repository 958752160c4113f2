package lectus.metrics;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.regex.Pattern;

/**
 * One line for each event: time, level, logger, the fields that came with it, the message; then the
 * trace of an exception. A message may have text that a client sent: control characters are
 * replaced, so that it can neither begin a line nor control a terminal. In a trace, only lines of a
 * trace's own form remain lines.
 */
final class TextLines extends EncoderBase<ILoggingEvent> {
  private static final byte[] NOTHING = new byte[0];
  private static final LineForm FORM = new TextForm();

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    StringBuilder line = new StringBuilder(256);
    String logger = event.getLoggerName();
    FORM.begin(
        line,
        new LogTime(Clock.fixed(event.getInstant(), ZoneOffset.UTC)),
        event.getLevel().toString(),
        logger.substring(logger.lastIndexOf('.') + 1));
    EventFields.append(line, event);
    appendVisible(line.append(' '), String.valueOf(event.getFormattedMessage()));
    FORM.end(line);
    if (event.getThrowableProxy() != null) {
      line.append(Traces.visible(ThrowableProxyUtil.asString(event.getThrowableProxy())));
    }
    return line.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }

  private static void appendVisible(StringBuilder line, String message) {
    for (int i = 0; i < message.length(); i++) {
      char c = message.charAt(i);
      line.append(Character.isISOControl(c) ? '?' : c);
    }
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
