package lectus.metrics;

/** What a line of the log looks like. */
public enum LogFormat {
  /** For people: words, and pairs of names and values. */
  TEXT(new TextForm()),

  /** For programs: one JSON object. */
  JSON(new JsonForm());

  private final LineForm form;

  /** Returns the form that this name has in the configuration; text for any other name. */
  public static LogFormat named(String name) {
    return "json".equals(name) ? JSON : TEXT;
  }

  LogFormat(LineForm form) {
    this.form = form;
  }

  public LineForm form() {
    return form;
  }
}
