package lectus.store.embedded.engine.commit;

import java.util.List;

/**
 * Tells whether a growing list may hold keys with a given prefix; a "no" is certain. It catches up
 * with the list when queried.
 */
final class PrefixIndex {
  private static final int MIN_CAPACITY = 256;

  private final int prefixLength;
  private int[] hashes = new int[MIN_CAPACITY];
  private int indexed;

  /** Creates an index of the first {@code prefixLength} bytes of each key, a multiple of 8. */
  PrefixIndex(int prefixLength) {
    this.prefixLength = prefixLength;
  }

  boolean mayHold(byte[] keyWithPrefix, List<byte[]> keys) {
    catchUp(keys);
    int hash = hash(keyWithPrefix);
    return hashes[slot(hash)] == hash;
  }

  private void catchUp(List<byte[]> keys) {
    if (keys.size() * 2 > hashes.length) {
      hashes = new int[Integer.highestOneBit(keys.size()) * 8];
      indexed = 0;
    }
    for (; indexed < keys.size(); indexed++) {
      byte[] key = keys.get(indexed);
      if (key.length >= prefixLength) {
        int hash = hash(key);
        hashes[slot(hash)] = hash;
      }
    }
  }

  /** Returns the slot that holds the hash, or the empty slot where it belongs. */
  private int slot(int hash) {
    int mask = hashes.length - 1;
    int slot = hash & mask;
    while (hashes[slot] != 0 && hashes[slot] != hash) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Never returns 0, which marks an empty slot. */
  private int hash(byte[] key) {
    return KeyHash.ofPrefix(key, prefixLength) | 1;
  }
}
