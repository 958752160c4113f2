package lectus.json;

/**
 * Writes paths for people: {@code a.b[3].c}, with dots and backslashes in names escaped as in
 * {@link FieldPath}. Long paths are shortened in the middle.
 */
final class PathText {
  private static final int HEAD = 60;
  private static final int TAIL = 30;

  private PathText() {}

  /** Returns the tuple-encoded path in the first {@code length} bytes as text. */
  static String of(byte[] path, int length) {
    StringBuilder text = new StringBuilder();
    TupleReader elements = new TupleReader(path, 0, length);
    while (elements.hasNext()) {
      if (elements.isInteger()) {
        text.append('[').append(elements.integer()).append(']');
      } else {
        text.append(text.isEmpty() ? "" : ".").append(escaped(elements.string()));
      }
    }
    return shortened(text.toString());
  }

  private static String escaped(String name) {
    return name.replace("\\", "\\\\").replace(".", "\\.");
  }

  private static String shortened(String text) {
    int characters = text.codePointCount(0, text.length());
    if (characters <= HEAD + TAIL) {
      return text;
    }
    return text.substring(0, text.offsetByCodePoints(0, HEAD))
        + "…"
        + text.substring(text.offsetByCodePoints(text.length(), -TAIL));
  }
}
