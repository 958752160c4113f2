package lectus.config;

/** The configuration file of defaults: each key with its meaning, commented out. */
public final class DefaultFile {
  private static final int LINE_LENGTH = 100;

  private static final String HEADING =
      """
      # Lectus' configuration: lines of the form "key = value". What is commented out here is the
      # default. "lectus config" prints this file.
      #
      #   lectus serve --config conf/lectus.conf        (or the environment variable LECTUS_CONFIG)
      #
      # Each key can also be set by an environment variable (http.max-uri-length:
      # LECTUS_HTTP_MAX_URI_LENGTH) and by a flag (--set http.max-uri-length=4000; the usual ones have
      # flags of their own). The environment counts more than this file, flags count more than the
      # environment. An unknown key or a value that a key does not take keeps the server from starting.
      """;

  private DefaultFile() {}

  /** Returns the text of {@code conf/lectus.conf}. */
  public static String text() {
    StringBuilder out = new StringBuilder(HEADING);
    for (KeySection section : KnownKeys.SECTIONS) {
      out.append("\n# --- ").append(section.title()).append(" ---\n");
      section.keys().forEach(key -> append(key, out));
    }
    return out.toString();
  }

  private static void append(ConfigurationKey<?> key, StringBuilder out) {
    out.append('\n');
    appendComment(key.meaning(), out);
    if (!key.type().wanted().isEmpty()) {
      appendComment("Takes " + key.type().wanted() + ".", out);
    }
    out.append('#').append(key.name()).append(" =");
    out.append(key.fallback().isEmpty() ? "" : " " + key.fallback()).append('\n');
  }

  /** Appends a comment, with lines broken between words. */
  private static void appendComment(String text, StringBuilder out) {
    int column = 0;
    for (String word : text.split(" ")) {
      if (column == 0 || column + 1 + word.length() > LINE_LENGTH) {
        out.append(column == 0 ? "#" : "\n#");
        column = 1;
      }
      out.append(' ').append(word);
      column += 1 + word.length();
    }
    out.append('\n');
  }
}
