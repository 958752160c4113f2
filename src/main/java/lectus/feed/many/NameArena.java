package lectus.feed.many;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import lectus.database.DatabaseName;

/** Database names back to back in one byte array: they are ASCII, at most 238 characters. */
final class NameArena {
  private static final int FNV_PRIME = 0x01000193;

  /** Prevents clients from choosing names with equal hashes. */
  private static final int SEED = ThreadLocalRandom.current().nextInt();

  private static final int WORTH_MOVING = 1 << 16;

  private byte[] bytes = new byte[256];
  private int end;
  private int garbage;

  /** Returns the offset of the added name. */
  int add(DatabaseName name) {
    byte[] text = name.text().getBytes(StandardCharsets.US_ASCII);
    return add(text, 0, text.length);
  }

  /** Copies the name at an offset of another arena; returns its offset in this one. */
  int copy(NameArena other, int start) {
    return add(other.bytes, start + 1, other.length(start));
  }

  private int add(byte[] text, int from, int length) {
    if (end + 1 + length > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, end + 1 + length));
    }
    int start = end;
    bytes[end++] = (byte) length;
    System.arraycopy(text, from, bytes, end, length);
    end += length;
    return start;
  }

  /** Releases this name, which is never used again. */
  void forget(int start) {
    garbage += 1 + length(start);
  }

  boolean isMostlyGarbage() {
    return end > WORTH_MOVING && garbage > end / 2;
  }

  DatabaseName name(int start) {
    return new DatabaseName(new String(bytes, start + 1, length(start), StandardCharsets.US_ASCII));
  }

  boolean is(int start, DatabaseName name) {
    String text = name.text();
    if (length(start) != text.length()) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if (bytes[start + 1 + i] != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Like {@link #hash(DatabaseName)}. */
  int hash(int start) {
    int hash = SEED;
    for (int i = start + 1; i <= start + length(start); i++) {
      hash = (hash ^ bytes[i]) * FNV_PRIME;
    }
    return hash;
  }

  static int hash(DatabaseName name) {
    String text = name.text();
    int hash = SEED;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * FNV_PRIME;
    }
    return hash;
  }

  private int length(int start) {
    return bytes[start] & 0xff;
  }

  int capacity() {
    return bytes.length;
  }
}
