package lectus.tuple;

/** How many bytes values take in tuple encoding. */
public final class TupleSizes {
  private TupleSizes() {}

  /** UTF-8, each NUL twice, type code and end. */
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
