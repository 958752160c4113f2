package lectus.store.embedded.engine;

import java.util.Arrays;

/**
 * What the last atomic operations left under their keys, so that the next one on the same counter
 * needs no read. The committer, the only writer, tells of every other write to a key; so what is
 * remembered is what is stored, or will be with the group that is being resolved.
 */
final class AtomicValues {
  /** A key that hashes to another one's slot takes its place. */
  private static final int SLOTS = 16_384;

  /** Of a key and its value together; counters are far smaller. */
  private static final int MOST_BYTES = 256;

  private final byte[][] keys = new byte[SLOTS][];
  private final byte[][] values = new byte[SLOTS][];

  /** The key's value; null if it is not remembered. */
  byte[] find(byte[] key) {
    int slot = slot(key);
    return holds(slot, key) ? values[slot] : null;
  }

  /** A guess, for threads other than the committer's. */
  boolean mayRemember(byte[] key) {
    byte[] remembered = keys[slot(key)];
    return remembered != null && Arrays.equals(remembered, key);
  }

  void remember(byte[] key, byte[] value) {
    int slot = slot(key);
    if (key.length + value.length <= MOST_BYTES) {
      keys[slot] = key;
      values[slot] = value;
    } else if (holds(slot, key)) {
      keys[slot] = null;
    }
  }

  void forget(byte[] key) {
    int slot = slot(key);
    if (holds(slot, key)) {
      keys[slot] = null;
    }
  }

  void forgetAll() {
    Arrays.fill(keys, null);
  }

  private boolean holds(int slot, byte[] key) {
    return keys[slot] != null && Arrays.equals(keys[slot], key);
  }

  private static int slot(byte[] key) {
    return KeyHash.of(key) & SLOTS - 1;
  }
}
