package lectus.store.embedded.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/**
 * The resolved writes of one group, in order: the bytes of the write batch, and the values that
 * later transactions of the group find.
 */
final class GroupWrites {
  private static final long MAX_INITIAL_BYTES = 32 << 20;

  final WriteBatchBytes batch;
  private final List<byte[]> keys;
  private final List<byte[]> values;
  private final List<RangeDeletion> rangeDeletions = new ArrayList<>();

  /** Null until a key is looked for. */
  private WriteIndex index;

  /**
   * The keys set by the first {@code sorted} writes. They are sorted only once a range needs it.
   */
  private final NavigableSet<byte[]> setKeys = new TreeSet<>(Arrays::compareUnsigned);

  private int sorted;
  private final Map<Integer, PrefixIndex> prefixes = new HashMap<>();
  private byte[] metadataVersion;

  /** A range deletion and the number of writes before it. */
  private record RangeDeletion(byte[] begin, byte[] end, int position) {}

  /** The group's effect on a key so far. */
  enum Effect {
    NONE,
    SET,
    CLEARED
  }

  /** A key's effect and, for {@code SET}, its value. */
  record Found(Effect effect, byte[] value) {
    static final Found NOTHING = new Found(Effect.NONE, null);
    static final Found CLEARED = new Found(Effect.CLEARED, null);
  }

  /** Allocates space for about this many mutations and bytes. */
  GroupWrites(int expectedWrites, long expectedBytes) {
    batch = new WriteBatchBytes((int) Math.min(MAX_INITIAL_BYTES, expectedBytes));
    keys = new ArrayList<>(expectedWrites);
    values = new ArrayList<>(expectedWrites);
  }

  void set(byte[] key, byte[] value) {
    batch.put(key, value);
    keys.add(key);
    values.add(value);
    if (Arrays.equals(key, SystemKeys.METADATA_VERSION)) {
      metadataVersion = value;
    }
  }

  void delete(byte[] key) {
    batch.delete(key);
    keys.add(key);
    values.add(null);
  }

  void deleteRange(byte[] begin, byte[] end) {
    batch.deleteRange(begin, end);
    rangeDeletions.add(new RangeDeletion(begin, end, keys.size()));
  }

  /** Adds a range deletion that deletes nothing. */
  void cover(byte[] begin, byte[] end) {
    batch.deleteRange(begin, end);
  }

  /** Calls {@code sink} with each range deletion that may have deleted rows. */
  void forEachRangeDeletion(BiConsumer<byte[], byte[]> sink) {
    rangeDeletions.forEach(deletion -> sink.accept(deletion.begin, deletion.end));
  }

  /** Notes what was written, for readers of later states. */
  void note(PointCache points, long version) {
    points.wrote(version, keys, !rangeDeletions.isEmpty());
  }

  /** Returns the group's value of FF/metadataVersion, or {@code before} if it wrote none. */
  byte[] metadataVersionAfter(byte[] before) {
    return metadataVersion == null ? before : metadataVersion;
  }

  Found find(byte[] key) {
    if (index == null) {
      index = new WriteIndex();
    }
    int position = index.lastPosition(key, keys);
    for (RangeDeletion deletion : rangeDeletions) {
      if (deletion.position > position && contains(deletion.begin, deletion.end, key)) {
        return Found.CLEARED;
      }
    }
    if (position < 0) {
      return Found.NOTHING;
    }
    byte[] value = values.get(position);
    return value == null ? Found.CLEARED : new Found(Effect.SET, value);
  }

  /** Returns the keys in [begin, end) that this group has set so far. Some may be cleared again. */
  List<byte[]> setKeysIn(byte[] begin, byte[] end) {
    if (!mayHaveKeysIn(begin, end)) {
      return List.of();
    }
    for (; sorted < keys.size(); sorted++) {
      if (values.get(sorted) != null) {
        setKeys.add(keys.get(sorted));
      }
    }
    return List.copyOf(setKeys.subSet(begin, end));
  }

  /**
   * The keys of a range share the common prefix of its bounds. Most cleared ranges are of one leaf.
   */
  private boolean mayHaveKeysIn(byte[] begin, byte[] end) {
    int common = Math.max(0, Arrays.mismatch(begin, end)) & -Long.BYTES;
    return common == 0 || prefixes.computeIfAbsent(common, PrefixIndex::new).mayHold(begin, keys);
  }

  private static boolean contains(byte[] begin, byte[] end, byte[] key) {
    return Arrays.compareUnsigned(begin, key) <= 0 && Arrays.compareUnsigned(key, end) < 0;
  }

  /**
   * Tells whether a growing list may hold keys with a given prefix; a "no" is certain. It catches
   * up with the list when queried.
   */
  private static final class PrefixIndex {
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
      return PointCache.hash(key, prefixLength) | 1;
    }
  }

  /**
   * Finds the last position of a key in a growing list. It catches up with the list when queried,
   * so a group without atomic operations never pays for it.
   */
  private static final class WriteIndex {
    private static final int EMPTY = -1;
    private static final int MIN_CAPACITY = 64;

    private int[] positions = new int[0];
    private int[] hashes = new int[0];
    private int indexed;

    /** Returns the last position of {@code key} in {@code keys}, or -1. */
    int lastPosition(byte[] key, List<byte[]> keys) {
      catchUp(keys);
      if (positions.length == 0) {
        return EMPTY;
      }
      return positions[slot(PointCache.hash(key, key.length), key, keys)];
    }

    private void catchUp(List<byte[]> keys) {
      if (keys.size() * 2 > positions.length) {
        rebuild(keys);
      }
      for (; indexed < keys.size(); indexed++) {
        byte[] key = keys.get(indexed);
        int hash = PointCache.hash(key, key.length);
        int slot = slot(hash, key, keys);
        positions[slot] = indexed;
        hashes[slot] = hash;
      }
    }

    private void rebuild(List<byte[]> keys) {
      int capacity = Integer.highestOneBit(Math.max(MIN_CAPACITY, keys.size() * 4)) * 2;
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

  /**
   * RocksDB's serialized write batch, built in Java. A whole group takes one native call instead of
   * one for each key.
   *
   * <pre>
   * batch:  sequence (8 bytes, filled in by RocksDB), count (4 bytes little-endian), record*
   * record: 1 key value | 0 key | 15 begin end      (put, deletion, range deletion)
   * string: length (varint32), bytes
   * </pre>
   */
  public static final class WriteBatchBytes {
    private static final int HEADER_BYTES = 12;
    private static final int COUNT_OFFSET = 8;
    private static final byte DELETION = 0;
    private static final byte VALUE = 1;
    private static final byte RANGE_DELETION = 0x0F;
    private static final int MAX_VARINT_BYTES = 5;
    private static final VarHandle INT_LITTLE_ENDIAN =
        MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] bytes;
    private int length = HEADER_BYTES;
    private int count;

    public WriteBatchBytes(int initialCapacity) {
      bytes = new byte[Math.max(HEADER_BYTES, initialCapacity)];
    }

    public void put(byte[] key, byte[] value) {
      record(VALUE, key, value);
    }

    public void delete(byte[] key) {
      record(DELETION, key);
    }

    void deleteRange(byte[] begin, byte[] end) {
      record(RANGE_DELETION, begin, end);
    }

    boolean isEmpty() {
      return count == 0;
    }

    public byte[] toByteArray() {
      INT_LITTLE_ENDIAN.set(bytes, COUNT_OFFSET, count);
      return Arrays.copyOf(bytes, length);
    }

    private void record(byte tag, byte[]... strings) {
      int needed = length + 1;
      for (byte[] string : strings) {
        needed += MAX_VARINT_BYTES + string.length;
      }
      if (needed > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length * 2));
      }
      bytes[length++] = tag;
      count++;
      for (byte[] string : strings) {
        int rest = string.length;
        while (rest >= 0x80) {
          bytes[length++] = (byte) (rest | 0x80);
          rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
        System.arraycopy(string, 0, bytes, length, string.length);
        length += string.length;
      }
    }
  }
}
