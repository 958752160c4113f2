package lectus.store.embedded.engine;

import java.util.Arrays;

/**
 * Caches the results of recent atomic operations, so that the next one on the same counter needs no
 * read. The committer, the only writer, reports every other write to a key. So a cached value is
 * always the stored one, or will be once the current group is stored.
 *
 * <p>The cache is set-associative: a key's hash selects its set. A full set evicts the key that was
 * changed least recently.
 */
public final class AtomicValues {
  /** Enough for some 400 databases: each has 64 counters that writers change. */
  static final int SETS = 8_192;

  static final int KEYS_OF_A_SET = 4;

  /** The limit of a key and its value together; counters are far smaller. */
  private static final int MAX_BYTES = 128;

  private static final int NOWHERE = -1;

  /** Set by set; within a set the most recently changed key comes first. */
  private final byte[][] keys = new byte[SETS * KEYS_OF_A_SET][];

  private final byte[][] values = new byte[SETS * KEYS_OF_A_SET][];

  /**
   * The hashes of the keys. Nearly all written keys are no counters; comparing hashes first makes
   * the lookup cheap for them.
   */
  private final int[] hashes = new int[SETS * KEYS_OF_A_SET];

  /** Returns the key's value, or null if it is not cached. */
  byte[] find(byte[] key) {
    int place = place(key, PointCache.hash(key, key.length));
    return place == NOWHERE ? null : values[place];
  }

  /** Guesses whether the key is cached. For threads other than the committer's. */
  boolean mayRemember(byte[] key) {
    return place(key, PointCache.hash(key, key.length)) != NOWHERE;
  }

  void remember(byte[] key, byte[] value) {
    if (key.length + value.length > MAX_BYTES) {
      forget(key);
      return;
    }
    int hash = PointCache.hash(key, key.length);
    int first = (hash & SETS - 1) * KEYS_OF_A_SET;
    int place = place(key, hash);
    int freed = place == NOWHERE ? first + KEYS_OF_A_SET - 1 : place;
    for (int i = freed; i > first; i--) {
      move(i - 1, i);
    }
    put(first, key, value, hash);
  }

  void forget(byte[] key) {
    int hash = PointCache.hash(key, key.length);
    int place = place(key, hash);
    if (place == NOWHERE) {
      return;
    }
    int last = place | KEYS_OF_A_SET - 1;
    for (int i = place; i < last; i++) {
      move(i + 1, i);
    }
    put(last, null, null, 0);
  }

  void forgetAll() {
    Arrays.fill(keys, null);
  }

  private int place(byte[] key, int hash) {
    int first = (hash & SETS - 1) * KEYS_OF_A_SET;
    for (int i = first; i < first + KEYS_OF_A_SET; i++) {
      if (hashes[i] == hash && keys[i] != null && Arrays.equals(keys[i], key)) {
        return i;
      }
    }
    return NOWHERE;
  }

  private void move(int from, int to) {
    put(to, keys[from], values[from], hashes[from]);
  }

  private void put(int place, byte[] key, byte[] value, int hash) {
    keys[place] = key;
    values[place] = value;
    hashes[place] = hash;
  }
}
