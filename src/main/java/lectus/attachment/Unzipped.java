package lectus.attachment;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** The bytes that others are when they are no longer compressed. */
public final class Unzipped implements ByteSource {
  private static final int AT_ONCE = 64 << 10;

  private final ByteSource compressed;
  private final GzipReader reader;
  private boolean ended;

  public Unzipped(ByteSource compressed) {
    this(compressed, new GzipReader());
  }

  /**
   * @param reader is closed at the end and after a failure
   */
  Unzipped(ByteSource compressed, GzipReader reader) {
    this.compressed = compressed;
    this.reader = reader;
  }

  /**
   * @throws LectusException {@code bad_content_type} (415): they are no gzip
   */
  @Override
  public byte[] next() {
    byte[] bytes = new byte[ended ? 0 : AT_ONCE];
    int count = 0;
    try {
      while (count < AT_ONCE && !ended) {
        int more = reader.read(bytes, count);
        count += more;
        if (more == 0) {
          takeNext();
        }
      }
    } catch (DataFormatException none) {
      reader.close();
      throw notCompressed();
    } catch (Throwable failure) {
      reader.close();
      throw failure;
    }
    return count == bytes.length ? bytes : Arrays.copyOf(bytes, count);
  }

  private void takeNext() {
    byte[] piece = compressed.next();
    reader.take(piece, 0, piece.length);
    if (piece.length == 0) {
      ended = true;
      boolean isReadable = reader.isReadable();
      reader.close();
      if (!isReadable) {
        throw notCompressed();
      }
    }
  }

  private static LectusException notCompressed() {
    return new LectusException(
        new LectusError.UnsupportedMediaType(
            "The attachment came as gzip and is none; it is given to clients that accept gzip."));
  }
}
