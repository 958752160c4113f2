package lectus.json;

/** Escapes such as {@code \ud800} let strings into JSON that have no UTF-8 form. */
final class Surrogates {
  private Surrogates() {}

  /** The position of the first surrogate without its partner, or -1. */
  static int firstUnpaired(CharSequence text) {
    int count = text.length();
    for (int i = 0; i < count; i++) {
      char c = text.charAt(i);
      if (!Character.isSurrogate(c)) {
        continue;
      }
      boolean paired =
          Character.isHighSurrogate(c)
              && i + 1 < count
              && Character.isLowSurrogate(text.charAt(i + 1));
      if (!paired) {
        return i;
      }
      i++;
    }
    return -1;
  }
}
