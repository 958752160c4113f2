package lectus.metrics;

/** How the fields of a line are written. Calls are {@link #begin}, fields, and {@link #end}. */
public interface LineForm {
  void begin(StringBuilder line, LogTime time, String level, String logger);

  /** A field whose value may be any text. */
  void text(StringBuilder line, String name, String value);

  /** A field whose value is as a client sent it, one char for each byte. */
  void sent(StringBuilder line, String name, String value);

  void number(StringBuilder line, String name, long value);

  void end(StringBuilder line);
}
