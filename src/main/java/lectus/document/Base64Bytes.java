package lectus.document;

import java.util.Arrays;
import java.util.Base64;
import lectus.attachment.ByteSource;

/** Bytes as base64. */
final class Base64Bytes implements ByteSource {
  /** So many bytes become whole characters. */
  private static final int GROUP = 3;

  private final ByteSource plain;
  private byte[] left = new byte[0];

  Base64Bytes(ByteSource plain) {
    this.plain = plain;
  }

  @Override
  public byte[] next() {
    byte[] bytes = plain.next();
    byte[] all = bytes.length == 0 ? left : joined(left, bytes);
    int whole = bytes.length == 0 ? all.length : all.length - all.length % GROUP;
    left = Arrays.copyOfRange(all, whole, all.length);
    // A source that has ended goes on giving none.
    return whole == 0 && bytes.length > 0
        ? next()
        : Base64.getEncoder().encode(Arrays.copyOf(all, whole));
  }

  private static byte[] joined(byte[] one, byte[] other) {
    byte[] all = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, all, one.length, other.length);
    return all;
  }
}
