package lectus.document.edit;

import java.util.Arrays;
import java.util.Base64;

/**
 * Decodes Base64 that comes piece by piece as the content of a JSON string, with its escapes. White
 * space between characters is passed over. Without its padding, Base64 may have been cut, and is
 * refused. Not thread-safe.
 */
final class Base64Text {
  /** Characters that stand for three bytes. */
  private static final int GROUP = 4;

  private static final int DECODED_AT_ONCE = 4_096 * GROUP;
  private static final int HEX_DIGITS = 4;
  private static final int HEX = 16;

  private final Bytes decoded;
  private final byte[] text = new byte[DECODED_AT_ONCE];
  private int length;
  private boolean padded;
  private boolean escaping;
  private int digitsMissing;
  private int codeUnit;

  /** What came is no Base64. */
  static final class Invalid extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Invalid(String why) {
      super(why);
    }
  }

  /** Takes decoded bytes. */
  interface Bytes {
    void write(byte[] bytes, int from, int to);
  }

  Base64Text(Bytes decoded) {
    this.decoded = decoded;
  }

  /**
   * Decodes the text of a string.
   *
   * @throws Invalid it is no Base64
   */
  static byte[] decoded(String text) {
    byte[] bytes = new byte[text.length() / GROUP * (GROUP - 1)];
    int[] at = {0};
    Base64Text decoder =
        new Base64Text(
            (from, begin, end) -> {
              System.arraycopy(from, begin, bytes, at[0], end - begin);
              at[0] += end - begin;
            });
    for (int i = 0; i < text.length(); i++) {
      decoder.character(text.charAt(i));
    }
    decoder.end();
    return at[0] == bytes.length ? bytes : Arrays.copyOf(bytes, at[0]);
  }

  /**
   * @throws Invalid it is no Base64, or no JSON
   */
  void take(byte[] json, int from, int to) {
    for (int at = from; at < to; at++) {
      int octet = json[at];
      if (digitsMissing > 0) {
        digit(octet);
      } else if (escaping) {
        escaping = false;
        escape(octet);
      } else if (octet == '\\') {
        escaping = true;
      } else if (octet < ' ') {
        throw new Invalid("A control character, or not ASCII");
      } else {
        character(octet);
      }
    }
  }

  private void escape(int octet) {
    switch (octet) {
      case 'u' -> {
        digitsMissing = HEX_DIGITS;
        codeUnit = 0;
      }
      case 'n', 'r', 't', 'f' -> character('\n');
      default -> character(octet);
    }
  }

  private void digit(int octet) {
    int value = Character.digit(octet, HEX);
    if (value < 0) {
      throw new Invalid("Not a hex digit");
    }
    codeUnit = codeUnit * HEX + value;
    digitsMissing--;
    if (digitsMissing == 0) {
      character(codeUnit);
    }
  }

  private void character(int c) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      return;
    }
    if (padded || c > Byte.MAX_VALUE) {
      throw new Invalid("Not in Base64, or behind its padding");
    }
    text[length++] = (byte) c;
    if (length == text.length) {
      decode(text);
    }
  }

  /**
   * @throws Invalid the text is no Base64, or incomplete
   */
  void end() {
    if (escaping || digitsMissing > 0 || length % GROUP != 0) {
      throw new Invalid("Base64 without its padding");
    }
    decode(Arrays.copyOf(text, length));
  }

  private void decode(byte[] groups) {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(groups);
    } catch (IllegalArgumentException noBase64) {
      throw new Invalid("Not in groups of Base64");
    }
    padded = length > 0 && groups[length - 1] == '=';
    length = 0;
    if (bytes.length > 0) {
      decoded.write(bytes, 0, bytes.length);
    }
  }
}
