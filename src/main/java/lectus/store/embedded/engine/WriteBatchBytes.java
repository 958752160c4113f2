package lectus.store.embedded.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

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
public final class WriteBatchBytes {
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
    record(VALUE, key, value.length + MAX_VARINT_BYTES);
    string(value);
  }

  public void delete(byte[] key) {
    record(DELETION, key, 0);
  }

  void deleteRange(byte[] begin, byte[] end) {
    record(RANGE_DELETION, begin, end.length + MAX_VARINT_BYTES);
    string(end);
  }

  boolean isEmpty() {
    return count == 0;
  }

  public byte[] toByteArray() {
    INT_LITTLE_ENDIAN.set(bytes, COUNT_OFFSET, count);
    return Arrays.copyOf(bytes, length);
  }

  private void record(byte tag, byte[] key, int following) {
    int needed = length + 1 + MAX_VARINT_BYTES + key.length + following;
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length * 2));
    }
    bytes[length++] = tag;
    count++;
    string(key);
  }

  private void string(byte[] string) {
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
