package lectus.metrics;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Time, level, logger, then {@code name=value} pairs without spaces in them. */
final class TextForm implements LineForm {
  private static final int LEVEL_WIDTH = 5;

  @Override
  public void begin(StringBuilder line, LogTime time, String level, String logger) {
    time.appendTo(line);
    line.append(' ').append(level).append(" ".repeat(LEVEL_WIDTH - level.length()));
    line.append(' ').append(logger);
  }

  /** As it is sent in URLs. */
  @Override
  public void text(StringBuilder line, String name, String value) {
    name(line, name).append(URLEncoder.encode(value, StandardCharsets.UTF_8));
  }

  @Override
  public void sent(StringBuilder line, String name, String value) {
    VisibleText.append(name(line, name), value);
  }

  @Override
  public void number(StringBuilder line, String name, long value) {
    name(line, name).append(value);
  }

  @Override
  public void end(StringBuilder line) {
    line.append('\n');
  }

  private static StringBuilder name(StringBuilder line, String name) {
    return line.append(' ').append(name).append('=');
  }
}
