package lectus.store.embedded;

import com.apple.foundationdb.KeySelector;

/**
 * A key selector without orEqual. Of the visible keys at or after {@code key}, it selects the one
 * {@code offset} − 1 places on (0 is the last key before it).
 *
 * @param base the selector's key
 * @param key the base, or the first key after it if the selector had orEqual
 */
record Position(byte[] base, byte[] key, int offset) {
  static final int FIRST_AT_OR_BEHIND = 1;

  static Position of(KeySelector selector) {
    byte[] base = selector.getKey();
    return new Position(
        base, selector.orEqual() ? KeySpace.after(base) : base, selector.getOffset());
  }

  static Position at(byte[] key) {
    return new Position(key, key, FIRST_AT_OR_BEHIND);
  }

  static Position behind(byte[] key) {
    return new Position(key, KeySpace.after(key), FIRST_AT_OR_BEHIND);
  }
}
