package lectus.metrics;

import ch.qos.logback.classic.spi.ILoggingEvent;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.List;
import org.slf4j.event.KeyValuePair;

/**
 * What a line of the log looks like, and how its fields are written. Calls are {@link #begin},
 * fields, and {@link #end}.
 */
public enum LogFormat {
  /** For people: time, level, logger, then {@code name=value} pairs without spaces in them. */
  TEXT {
    @Override
    public void begin(StringBuilder line, LogTime time, String level, String logger) {
      time.appendTo(line);
      line.append(' ').append(level).append(" ".repeat(LEVEL_WIDTH - level.length()));
      line.append(' ').append(logger);
    }

    @Override
    StringBuilder name(StringBuilder line, String name) {
      return line.append(' ').append(name).append('=');
    }

    /** As it is sent in URLs. */
    @Override
    public void text(StringBuilder line, String name, String value) {
      name(line, name);
      line.append(isPlain(value) ? value : URLEncoder.encode(value, StandardCharsets.UTF_8));
    }

    @Override
    public void sent(StringBuilder line, String name, String value) {
      appendVisible(name(line, name), value);
    }

    @Override
    public void end(StringBuilder line) {
      line.append('\n');
    }
  },

  /** For programs: one JSON object, beginning with {@code time}, {@code level}, {@code logger}. */
  JSON {
    @Override
    public void begin(StringBuilder line, LogTime time, String level, String logger) {
      line.append("{\"time\":\"");
      time.appendTo(line);
      line.append("\",\"level\":\"").append(level).append('"');
      text(line, "logger", logger);
    }

    @Override
    StringBuilder name(StringBuilder line, String name) {
      appendQuoted(line.append(','), name);
      return line.append(':');
    }

    @Override
    public void text(StringBuilder line, String name, String value) {
      appendQuoted(name(line, name), value);
    }

    @Override
    public void sent(StringBuilder line, String name, String value) {
      StringBuilder visible = new StringBuilder(value.length());
      appendVisible(visible, value);
      appendQuoted(name(line, name), visible);
    }

    @Override
    public void end(StringBuilder line) {
      line.append("}\n");
    }
  };

  private static final int LEVEL_WIDTH = 5;
  private static final char DELETE = 0x7f;
  private static final char LINE_SEPARATOR = 0x2028;
  private static final char PARAGRAPH_SEPARATOR = 0x2029;
  private static final HexFormat HEX = HexFormat.of();

  /**
   * The value of a field as a client sent it, one char for each byte.
   *
   * @param text a path, for example
   */
  public record SentText(String text) {}

  /** Returns the form that this name has in the configuration; text for any other name. */
  public static LogFormat named(String name) {
    return "json".equals(name) ? JSON : TEXT;
  }

  public abstract void begin(StringBuilder line, LogTime time, String level, String logger);

  abstract StringBuilder name(StringBuilder line, String name);

  /** Appends a field whose value may be any text. */
  public abstract void text(StringBuilder line, String name, String value);

  /** Appends a field whose value is as a client sent it, one char for each byte. */
  public abstract void sent(StringBuilder line, String name, String value);

  public void number(StringBuilder line, String name, long value) {
    name(line, name).append(value);
  }

  public abstract void end(StringBuilder line);

  /** Appends the fields that came with an event. */
  void fields(StringBuilder line, ILoggingEvent event) {
    List<KeyValuePair> fields = event.getKeyValuePairs();
    if (fields == null) {
      return;
    }
    for (KeyValuePair field : fields) {
      if (field.value instanceof SentText sent) {
        sent(line, field.key, sent.text());
      } else if (this == JSON && field.value instanceof Number number) {
        number(line, field.key, number.longValue());
      } else {
        text(line, field.key, String.valueOf(field.value));
      }
    }
  }

  /** Percent-encodes what clients ought to have encoded; it could pretend to be a log line. */
  private static void appendVisible(StringBuilder line, String sent) {
    for (int i = 0; i < sent.length(); i++) {
      char c = sent.charAt(i);
      if (c > ' ' && c < DELETE) {
        line.append(c);
      } else {
        HEX.withUpperCase().toHexDigits(line.append('%'), (byte) c);
      }
    }
  }

  /** Whether a text is the same in a URL; most names are. */
  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!isLetter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.') {
        return false;
      }
    }
    return true;
  }

  /**
   * Appends a string of JSON. Beyond what RFC 8259 asks for, whatever a terminal or a reader of
   * lines could take for a command or a line's end is escaped, and halves of surrogate pairs are.
   */
  private static void appendQuoted(StringBuilder json, CharSequence text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> json.append('\\').append(c);
        case '\n' -> json.append("\\n");
        case '\t' -> json.append("\\t");
        default -> {
          if (isPlain(c) || isHalfOfPair(text, i)) {
            json.append(c);
          } else {
            json.append("\\u").append(HEX.toHexDigits(c));
          }
        }
      }
    }
    json.append('"');
  }

  private static boolean isPlain(char c) {
    boolean isSeparator = c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR;
    return !Character.isISOControl(c) && !isSeparator && !Character.isSurrogate(c);
  }

  private static boolean isHalfOfPair(CharSequence text, int at) {
    char c = text.charAt(at);
    return Character.isHighSurrogate(c)
        ? at + 1 < text.length() && Character.isLowSurrogate(text.charAt(at + 1))
        : Character.isLowSurrogate(c) && at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
  }

  /** UTC with milliseconds, in ISO 8601; only the milliseconds are formatted every time. */
  public static final class LogTime {
    private static final DateTimeFormatter TO_THE_SECOND =
        DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.").withZone(ZoneOffset.UTC);

    private static final int MILLIS_PER_SECOND = 1_000;

    private final InstantSource clock;
    private long second = Long.MIN_VALUE;
    private String toTheSecond;

    public LogTime(InstantSource clock) {
      this.clock = clock;
    }

    public void appendTo(StringBuilder line) {
      long now = clock.millis();
      long currentSecond = Math.floorDiv(now, MILLIS_PER_SECOND);
      if (currentSecond != second) {
        second = currentSecond;
        toTheSecond = TO_THE_SECOND.format(Instant.ofEpochSecond(second));
      }
      int millis = Math.floorMod(now, MILLIS_PER_SECOND);
      line.append(toTheSecond);
      line.append((char) ('0' + millis / 100));
      line.append((char) ('0' + millis / 10 % 10));
      line.append((char) ('0' + millis % 10));
      line.append('Z');
    }
  }
}
