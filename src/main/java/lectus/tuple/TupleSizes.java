package lectus.tuple;

/** The lengths of values in tuple encoding, in bytes. */
public final class TupleSizes {
  private TupleSizes() {}

  /** Counts the UTF-8 bytes, each NUL twice, the type code and the terminator. */
  public static int string(String text) {
    int bytes = 2;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0 || (c >= 0x80 && c < 0x800) || Character.isSurrogate(c)) {
        bytes += 2;
      } else {
        bytes += c < 0x80 ? 1 : 3;
      }
    }
    return bytes;
  }
}
