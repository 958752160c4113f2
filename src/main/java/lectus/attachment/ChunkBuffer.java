package lectus.attachment;

import java.util.Arrays;

/** The chunk that is being filled. It takes no more memory than has come, or twice as much. */
final class ChunkBuffer {
  private static final int FIRST_BYTES = 1_024;

  private final int most;
  private byte[] bytes;
  private int length;

  ChunkBuffer(int most) {
    this.most = most;
    this.bytes = new byte[Math.min(most, FIRST_BYTES)];
  }

  boolean isEmpty() {
    return length == 0;
  }

  /** Returns how many bytes it takes. */
  int capacity() {
    return bytes.length;
  }

  boolean isFull() {
    return length == most;
  }

  /** Takes as many bytes as there is room for; returns how many. */
  int take(byte[] from, int begin, int end) {
    int count = Math.min(end - begin, most - length);
    if (length + count > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.min(most, Math.max(length + count, 2 * bytes.length)));
    }
    System.arraycopy(from, begin, bytes, length, count);
    length += count;
    return count;
  }

  /** Returns the bytes, and begins anew. */
  byte[] taken() {
    byte[] taken = length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
    bytes = new byte[length == most ? most : Math.min(most, FIRST_BYTES)];
    length = 0;
    return taken;
  }
}
