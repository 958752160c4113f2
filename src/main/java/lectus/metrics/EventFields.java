package lectus.metrics;

import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import java.util.List;
import org.slf4j.event.KeyValuePair;

/** The word {@code %fields} of logback's patterns: {@code name=value} pairs, a space after each. */
public final class EventFields extends ClassicConverter {
  private static final LineForm FORM = new TextForm();

  @Override
  public String convert(ILoggingEvent event) {
    StringBuilder text = new StringBuilder();
    append(text, event);
    return text.isEmpty() ? "" : text.substring(1) + ' ';
  }

  /** Appends the pairs with a space before each. */
  static void append(StringBuilder text, ILoggingEvent event) {
    List<KeyValuePair> fields = event.getKeyValuePairs();
    if (fields != null) {
      fields.forEach(field -> append(text, field));
    }
  }

  private static void append(StringBuilder text, KeyValuePair field) {
    if (field.value instanceof SentText sent) {
      FORM.sent(text, field.key, sent.text());
    } else {
      FORM.text(text, field.key, String.valueOf(field.value));
    }
  }
}
