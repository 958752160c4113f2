package lectus.log;

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
}
