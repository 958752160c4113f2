package lectus.abuse.fuzz;

import java.nio.charset.StandardCharsets;

/**
 * One request, byte for byte.
 *
 * @param toHead whether the answer has no body, whatever its length says
 */
record FuzzRequest(Kind kind, byte[] bytes, boolean toHead) {
  enum Kind {
    /** Well formed: it is answered, and others may follow on its connection. */
    WHOLE,
    /** Well formed, but its answer may never end: it is answered, and its client leaves. */
    LIVE,
    /** Perhaps not HTTP at all: it is answered, or its connection is closed. */
    RAW
  }

  /** For a report, with unprintable bytes escaped as in {@code printf}. */
  @Override
  public String toString() {
    StringBuilder out = new StringBuilder();
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    for (char c : text.substring(0, Math.min(text.length(), 4_000)).toCharArray()) {
      switch (c) {
        case '\r' -> out.append("\\r");
        case '\n' -> out.append("\\n");
        case '\\' -> out.append("\\\\");
        default ->
            out.append(c >= ' ' && c < 127 ? String.valueOf(c) : String.format("\\x%02x", (int) c));
      }
    }
    return out + (text.length() > 4_000 ? "… (" + text.length() + " bytes)" : "");
  }
}
