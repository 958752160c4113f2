package lectus.metrics;

import java.util.HexFormat;

/** One JSON object, beginning with {@code time}, {@code level} and {@code logger}. */
final class JsonForm implements LineForm {
  @Override
  public void begin(StringBuilder line, LogTime time, String level, String logger) {
    line.append("{\"time\":\"");
    time.appendTo(line);
    line.append("\",\"level\":\"").append(level).append('"');
    text(line, "logger", logger);
  }

  @Override
  public void text(StringBuilder line, String name, String value) {
    JsonText.appendQuoted(name(line, name), value);
  }

  @Override
  public void sent(StringBuilder line, String name, String value) {
    StringBuilder visible = new StringBuilder(value.length());
    VisibleText.append(visible, value);
    JsonText.appendQuoted(name(line, name), visible);
  }

  @Override
  public void number(StringBuilder line, String name, long value) {
    name(line, name).append(value);
  }

  @Override
  public void end(StringBuilder line) {
    line.append("}\n");
  }

  private static StringBuilder name(StringBuilder line, String name) {
    JsonText.appendQuoted(line.append(','), name);
    return line.append(':');
  }

  /**
   * Strings of JSON. Beyond what RFC 8259 asks for, whatever a terminal or a reader of lines could
   * take for a command or a line's end is escaped, and halves of surrogate pairs are.
   */
  private static final class JsonText {
    private static final HexFormat HEX = HexFormat.of();

    private static final char LINE_SEPARATOR = 0x2028;
    private static final char PARAGRAPH_SEPARATOR = 0x2029;

    private JsonText() {}

    static void appendQuoted(StringBuilder json, CharSequence text) {
      json.append('"');
      for (int i = 0; i < text.length(); i++) {
        append(json, text, i);
      }
      json.append('"');
    }

    private static void append(StringBuilder json, CharSequence text, int at) {
      char c = text.charAt(at);
      switch (c) {
        case '"', '\\' -> json.append('\\').append(c);
        case '\n' -> json.append("\\n");
        case '\t' -> json.append("\\t");
        default -> {
          if (isPlain(c) || isHalfOfPair(text, at)) {
            json.append(c);
          } else {
            json.append("\\u").append(HEX.toHexDigits(c));
          }
        }
      }
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
  }
}
