package lectus.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** JSON's escapes for the bytes of a UTF-8 string, RFC 8259 section 7. */
final class JsonEscapes {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  /** The byte is written unchanged. */
  static final byte PLAIN = 0;

  /** The byte is written as backslash, u and four digits. */
  static final byte UNICODE = 1;

  /** By unsigned byte: PLAIN, UNICODE, or the character after a backslash. */
  static final byte[] KIND = kinds();

  /**
   * By unsigned byte: its length in JSON. 0xff never occurs in UTF-8; it is the second half of a
   * tuple-encoded NUL, whose first half counts for both.
   */
  private static final byte[] SIZE = sizes();

  private JsonEscapes() {}

  /** Returns the length of a string's quoted form in bytes, from UTF-8 or tuple-encoded bytes. */
  static int quotedSize(byte[] utf8, int from, int to) {
    int size = 2;
    for (int i = from; i < to; i++) {
      size += SIZE[utf8[i] & 0xff];
    }
    return size;
  }

  static byte hexDigit(int value) {
    return HEX[value & 0xf];
  }

  private static byte[] kinds() {
    byte[] kinds = new byte[256];
    Arrays.fill(kinds, 0, 0x20, UNICODE);
    kinds['"'] = '"';
    kinds['\\'] = '\\';
    kinds['\b'] = 'b';
    kinds['\f'] = 'f';
    kinds['\n'] = 'n';
    kinds['\r'] = 'r';
    kinds['\t'] = 't';
    return kinds;
  }

  private static byte[] sizes() {
    byte[] sizes = new byte[256];
    for (int b = 0; b < 0xff; b++) {
      sizes[b] = (byte) (KIND[b] == PLAIN ? 1 : KIND[b] == UNICODE ? 6 : 2);
    }
    return sizes;
  }
}
