package lectus.feed.many;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import lectus.database.DatabaseName;

/**
 * Names of databases back to back in one array of bytes: they are ASCII, 238 characters at most.
 */
final class NameArena {
  private static final int FNV_PRIME = 0x01000193;

  /** So that nobody can choose names that all have one hash. */
  private static final int SEED = ThreadLocalRandom.current().nextInt();

  private static final int WORTH_MOVING = 1 << 16;

  private byte[] bytes = new byte[256];
  private int end;
  private int garbage;

  /** Where the name begins. */
  int add(DatabaseName name) {
    byte[] text = name.text().getBytes(StandardCharsets.US_ASCII);
    return add(text, 0, text.length);
  }

  /** Where the name that begins there in another arena begins in this one. */
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

  /** Nobody will ask for this name any more. */
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

  /** As {@link #hash(DatabaseName)}. */
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
