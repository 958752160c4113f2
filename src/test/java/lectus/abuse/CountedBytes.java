package lectus.abuse;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Random;

/**
 * Bytes of any number, always the same: random ones that are repeated, each time behind the number
 * of the time.
 */
final class CountedBytes extends InputStream {
  /** Long enough not to be compressed away, and no multiple of a chunk. */
  static final int PERIOD = 65_521;

  private final byte[] period = new byte[PERIOD];
  private final long end;
  private long next;

  CountedBytes(long length) {
    new Random(1).nextBytes(period);
    this.end = length;
    number();
  }

  private void number() {
    ByteBuffer.wrap(period).putLong(next / PERIOD);
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int most) {
    if (next == end) {
      return -1;
    }
    int at = (int) (next % PERIOD);
    int count = (int) Math.min(Math.min(most, PERIOD - at), end - next);
    System.arraycopy(period, at, into, offset, count);
    next += count;
    number();
    return count;
  }
}
