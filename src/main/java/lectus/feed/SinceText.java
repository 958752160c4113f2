package lectus.feed;

import lectus.error.LectusException;

/** What all forms of the parameter {@code since} have in common. */
public final class SinceText {
  private SinceText() {}

  /** Without JSON's quotes, which CouchDB's clients put around sequences. */
  public static String bare(String text) {
    boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    return quoted ? text.substring(1, text.length() - 1) : text;
  }

  public static LectusException malformed() {
    return LectusException.badRequest("Malformed sequence supplied in 'since' parameter.");
  }
}
