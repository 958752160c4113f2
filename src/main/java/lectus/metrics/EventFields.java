package lectus.metrics;

import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;

/** The word {@code %fields} of logback's patterns: {@code name=value} pairs, a space after each. */
public final class EventFields extends ClassicConverter {
  @Override
  public String convert(ILoggingEvent event) {
    StringBuilder text = new StringBuilder();
    LogFormat.TEXT.fields(text, event);
    return text.isEmpty() ? "" : text.substring(1) + ' ';
  }
}
