package lectus.store.embedded.engine.commit;

import java.util.Arrays;
import java.util.List;

/**
 * Finds the last position of a key in a growing list. It catches up with the list when queried, so
 * a group without atomic operations never pays for it.
 */
final class WriteIndex {
  private static final int EMPTY = -1;
  private static final int LEAST_CAPACITY = 64;

  private int[] positions = new int[0];
  private int[] hashes = new int[0];
  private int indexed;

  /** Returns the last position of {@code key} in {@code keys}, or -1. */
  int lastPosition(byte[] key, List<byte[]> keys) {
    catchUp(keys);
    if (positions.length == 0) {
      return EMPTY;
    }
    return positions[slot(KeyHash.of(key), key, keys)];
  }

  private void catchUp(List<byte[]> keys) {
    if (keys.size() * 2 > positions.length) {
      rebuild(keys);
    }
    for (; indexed < keys.size(); indexed++) {
      byte[] key = keys.get(indexed);
      int hash = KeyHash.of(key);
      int slot = slot(hash, key, keys);
      positions[slot] = indexed;
      hashes[slot] = hash;
    }
  }

  private void rebuild(List<byte[]> keys) {
    int capacity = Integer.highestOneBit(Math.max(LEAST_CAPACITY, keys.size() * 4)) * 2;
    positions = new int[capacity];
    hashes = new int[capacity];
    Arrays.fill(positions, EMPTY);
    indexed = 0;
  }

  /** Returns the slot that holds the key, or the empty slot where it belongs. */
  private int slot(int hash, byte[] key, List<byte[]> keys) {
    int mask = positions.length - 1;
    int slot = hash & mask;
    while (positions[slot] != EMPTY
        && (hashes[slot] != hash || !Arrays.equals(keys.get(positions[slot]), key))) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
}
