package lectus.metrics;

import java.util.HexFormat;

/** Percent-encodes what clients ought to have encoded; it could pretend to be a log line. */
final class VisibleText {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private static final char DELETE = 0x7f;

  private VisibleText() {}

  /**
   * @param sent one char for each byte
   */
  static void append(StringBuilder line, String sent) {
    for (int i = 0; i < sent.length(); i++) {
      char c = sent.charAt(i);
      if (c > ' ' && c < DELETE) {
        line.append(c);
      } else {
        HEX.toHexDigits(line.append('%'), (byte) c);
      }
    }
  }
}
