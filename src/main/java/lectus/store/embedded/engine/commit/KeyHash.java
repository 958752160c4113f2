package lectus.store.embedded.engine.commit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A fast hash of keys, eight bytes at a time. For tables in memory; never stored. */
final class KeyHash {
  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private KeyHash() {}

  static int of(byte[] key) {
    long hash = key.length;
    int i = 0;
    for (; i + Long.BYTES <= key.length; i += Long.BYTES) {
      hash = mix(hash ^ (long) LONGS.get(key, i));
    }
    long rest = 0;
    for (; i < key.length; i++) {
      rest = rest << 8 | (key[i] & 0xFF);
    }
    return (int) (mix(hash ^ rest) >>> 32);
  }

  /** Returns the hash of the first {@code length} bytes, a multiple of 8. */
  static int ofPrefix(byte[] key, int length) {
    long hash = length;
    for (int i = 0; i < length; i += Long.BYTES) {
      hash = mix(hash ^ (long) LONGS.get(key, i));
    }
    return (int) (mix(hash) >>> 32);
  }

  private static long mix(long value) {
    long product = value * MULTIPLIER;
    return product ^ product >>> 29;
  }
}
