package lectus.store.embedded.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Small values that point reads asked for twice lately, so that a third read needs no RocksDB.
 *
 * <p>A value that was found in one state is that of all later states until the key is written. The
 * committer notes the keys of each group before readers can see the group's state. So a value holds
 * in a state that is as new as the one in which it was found, unless a later write was noted; a
 * reader of a state before that write may then miss a value that holds for it, and asks RocksDB.
 * Because the note stays, a value that is kept late, after the write, is never used.
 *
 * <p>A key has one place, by its hash, and shares it with others: the last one that was asked for
 * twice has it. Thread-safe, without locks.
 */
public final class PointCache {
  /** The limit of a key and its value together. The rows of edit branches are mostly smaller. */
  static final int MAX_BYTES = 480;

  /** What a place takes at most, in bytes. */
  static final int PLACE_BYTES = 512;

  /** The first version of the state in which a value was found, and the length of its key. */
  private static final int HEAD_BYTES = Long.BYTES + Short.BYTES;

  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Their number, a power of two. */
  private final int places;

  /** Heads, each with its key and value. */
  private final AtomicReferenceArray<byte[]> entries;

  /** The hashes of the keys that were asked for last. */
  private final AtomicIntegerArray askedFor;

  /** The versions of the last writes of keys of each place. */
  private final AtomicLongArray written;

  /** The version of the last write of keys that are not listed. */
  private volatile long cleared;

  /**
   * @param bytes most memory of all values together
   */
  public PointCache(long bytes) {
    places = (int) Math.max(1, Long.highestOneBit(bytes / PLACE_BYTES));
    entries = new AtomicReferenceArray<>(places);
    askedFor = new AtomicIntegerArray(places);
    written = new AtomicLongArray(places);
  }

  /**
   * Returns the value of a key; null if it is not known here.
   *
   * @param state first version of the state that is read
   */
  byte[] find(long state, byte[] key) {
    int place = hash(key, key.length) & places - 1;
    byte[] entry = entries.getAcquire(place);
    if (entry == null) {
      return null;
    }
    ByteBuffer head = ByteBuffer.wrap(entry);
    long since = head.getLong();
    int keyEnd = HEAD_BYTES + head.getShort();
    boolean holds = since <= state && written.getAcquire(place) <= since && cleared <= since;
    return holds && Arrays.equals(entry, HEAD_BYTES, keyEnd, key, 0, key.length)
        ? Arrays.copyOfRange(entry, keyEnd, entry.length)
        : null;
  }

  /**
   * Keeps a value if its key was asked for before.
   *
   * @param state first version of the state in which the value was found
   * @param value null if there is none
   */
  void keep(long state, byte[] key, byte[] value) {
    if (value == null || key.length + value.length > MAX_BYTES) {
      return;
    }
    int hash = hash(key, key.length);
    int place = hash & places - 1;
    if (askedFor.getPlain(place) == hash) {
      byte[] entry = new byte[HEAD_BYTES + key.length + value.length];
      ByteBuffer.wrap(entry).putLong(state).putShort((short) key.length).put(key).put(value);
      entries.setRelease(place, entry);
    } else {
      askedFor.setPlain(place, hash);
    }
  }

  /**
   * Notes what a group has written, before readers see it.
   *
   * @param version of the group
   * @param alsoOthers whether the group cleared keys that are not listed
   */
  public void wrote(long version, List<byte[]> keys, boolean alsoOthers) {
    for (byte[] key : keys) {
      written.setRelease(hash(key, key.length) & places - 1, version);
    }
    if (alsoOthers) {
      cleared = version;
    }
  }

  /**
   * A fast hash of the first {@code length} bytes, eight at a time. For tables in memory; never
   * stored.
   */
  static int hash(byte[] key, int length) {
    int whole = length & -Long.BYTES;
    long rest = 0;
    for (int i = whole; i < length; i++) {
      rest = rest << 8 | (key[i] & 0xFF);
    }
    long hash = length;
    for (int i = 0; i < whole; i += Long.BYTES) {
      long product = (hash ^ (long) LONGS.get(key, i)) * MULTIPLIER;
      hash = product ^ product >>> 29;
    }
    long product = (hash ^ rest) * MULTIPLIER;
    return (int) ((product ^ product >>> 29) >>> 32);
  }
}
