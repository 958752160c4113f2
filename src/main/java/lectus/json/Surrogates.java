package lectus.json;

/**
 * Finds unpaired surrogates: escapes such as {@code \ud800} allow JSON strings without a UTF-8
 * form.
 */
public final class Surrogates {
  private Surrogates() {}

  /** Returns the position of the first unpaired surrogate, or -1. */
  public static int firstUnpaired(CharSequence text) {
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
