package lectus.attachment;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** The bytes that others are when they are no longer compressed. */
public final class Unzipped implements ByteSource {
  private static final int AT_ONCE = 64 << 10;

  private final ByteSource compressed;
  private GZIPInputStream input;
  private boolean ended;

  public Unzipped(ByteSource compressed) {
    this.compressed = compressed;
  }

  /**
   * @throws LectusException {@code bad_content_type} (415): a client said that they were gzip, and
   *     they are not
   */
  @Override
  public byte[] next() {
    if (ended) {
      return new byte[0];
    }
    try {
      if (input == null) {
        input = new GZIPInputStream(new Compressed(compressed), AT_ONCE);
      }
      byte[] bytes = new byte[AT_ONCE];
      int count = input.readNBytes(bytes, 0, AT_ONCE);
      if (count < AT_ONCE) {
        input.close();
        ended = true;
      }
      return count == AT_ONCE ? bytes : Arrays.copyOf(bytes, count);
    } catch (IOException notCompressed) {
      throw new LectusException(
          new LectusError.UnsupportedMediaType(
              "The attachment came as gzip and is none; it is given to clients that accept gzip."));
    }
  }

  /** The pieces as a stream. */
  private static final class Compressed extends InputStream {
    private final ByteSource source;
    private byte[] piece = new byte[0];
    private int at;

    Compressed(ByteSource source) {
      this.source = source;
    }

    @Override
    public int read() {
      return fill() ? piece[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int count) {
      if (!fill()) {
        return -1;
      }
      int taken = Math.min(count, piece.length - at);
      System.arraycopy(piece, at, into, offset, taken);
      at += taken;
      return taken;
    }

    @Override
    public int available() {
      return piece.length - at;
    }

    private boolean fill() {
      if (at == piece.length) {
        piece = source.next();
        at = 0;
      }
      return at < piece.length;
    }
  }
}
