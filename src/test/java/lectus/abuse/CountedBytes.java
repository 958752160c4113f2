package lectus.abuse;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Random;

/**
 * Bytes of any number: random ones that are repeated, each time behind the number of the time. The
 * same seed gives the same bytes.
 */
final class CountedBytes extends InputStream {
  /** Long enough not to be compressed away, and no multiple of a chunk. */
  static final int PERIOD = 65_521;

  private final byte[] period = new byte[PERIOD];
  private final long end;
  private long next;

  /**
   * @param from offset of the first
   * @param end offset behind the last
   */
  CountedBytes(long seed, long from, long end) {
    new Random(seed).nextBytes(period);
    this.next = from;
    this.end = end;
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
