package lectus.attachment;

import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Decompresses gzip (RFC 1952) part by part: any number of members, one after the other, whose sums
 * and lengths it verifies. Its memory does not depend on what comes. Not thread-safe; memory that
 * is not of the heap is used until it is closed.
 */
public final class GzipReader implements AutoCloseable {
  private static final int FIRST = 0x1f;
  private static final int SECOND = 0x8b;
  private static final int DEFLATED = 8;
  private static final int FLAGS_AT = 3;
  private static final int HEAD_BYTES = 10;
  private static final int HAS_HEAD_SUM = 0x02;
  private static final int HAS_EXTRA = 0x04;
  private static final int HAS_NAME = 0x08;
  private static final int HAS_COMMENT = 0x10;
  private static final int RESERVED = 0xe0;
  private static final int HEAD_SUM_MASK = 0xffff;

  private final Inflater inflater = new Inflater(true);
  private final CRC32 sum = new CRC32();
  private Step step = Step.HEAD;

  /** How many bytes of the step have come. */
  private long count;

  /** The first eight of them as a number, little-endian. */
  private long number;

  private int flags;
  private long extraBytes;
  private boolean isAnyWhole;
  private byte[] bytes = new byte[0];
  private int at;
  private int end;

  /** The parts of a member, in their order. */
  private enum Step {
    HEAD,
    EXTRA_LENGTH,
    EXTRA,
    NAME,
    COMMENT,
    HEAD_SUM,
    CONTENT,
    TAIL,
    /** What follows the last member and begins no other. */
    BEHIND
  }

  /** Gives it the next bytes, when it has read those before. They must not change meanwhile. */
  public void take(byte[] next, int from, int to) {
    bytes = next;
    at = from;
    end = to;
    if (step == Step.CONTENT) {
      inflateRest();
    }
  }

  private void inflateRest() {
    inflater.setInput(bytes, at, end - at);
    at = end;
  }

  /**
   * Writes decompressed bytes into an array, from an offset to its end.
   *
   * @return how many; 0 if all that was taken is read
   * @throws DataFormatException it is no gzip
   */
  public int read(byte[] into, int from) throws DataFormatException {
    int read = 0;
    boolean goesOn = true;
    while (read == 0 && goesOn) {
      if (step == Step.CONTENT) {
        read = inflate(into, from);
        goesOn = step != Step.CONTENT;
      } else if (at < end) {
        read(bytes[at++] & 0xff);
      } else {
        goesOn = false;
      }
    }
    return read;
  }

  private int inflate(byte[] into, int from) throws DataFormatException {
    int read = inflater.inflate(into, from, into.length - from);
    sum.update(into, from, read);
    require(!inflater.needsDictionary());
    if (inflater.finished()) {
      at = end - inflater.getRemaining();
      begin(Step.TAIL);
    }
    return read;
  }

  /** Reads a byte beside the content. */
  private void read(int octet) throws DataFormatException {
    if (count < Long.BYTES) {
      number |= (long) octet << (count * Byte.SIZE);
    }
    count++;
    if (step.ordinal() < Step.HEAD_SUM.ordinal()) {
      sum.update(octet);
    }
    if (isEnd(octet)) {
      beginNext();
    }
  }

  private boolean isEnd(int octet) throws DataFormatException {
    return switch (step) {
      case HEAD -> isEndOfHead(octet);
      case EXTRA_LENGTH -> count == Short.BYTES;
      case EXTRA -> count == extraBytes;
      case NAME, COMMENT -> octet == 0;
      case HEAD_SUM -> isVerified(Short.BYTES, sum.getValue() & HEAD_SUM_MASK);
      case TAIL ->
          isVerified(Long.BYTES, inflater.getBytesWritten() << Integer.SIZE | sum.getValue());
      case CONTENT, BEHIND -> false;
    };
  }

  private boolean isEndOfHead(int octet) throws DataFormatException {
    boolean isMagic = count > 2 || octet == (count == 1 ? FIRST : SECOND);
    if (!isMagic && isAnyWhole) {
      begin(Step.BEHIND);
      return false;
    }
    require(isMagic);
    require(count != FLAGS_AT || octet == DEFLATED);
    if (count == FLAGS_AT + 1) {
      flags = octet;
      require((flags & RESERVED) == 0);
    }
    return count == HEAD_BYTES;
  }

  private boolean isVerified(int length, long expected) throws DataFormatException {
    require(count < length || number == expected);
    return count == length;
  }

  private void beginNext() {
    if (step == Step.TAIL) {
      isAnyWhole = true;
      sum.reset();
      begin(Step.HEAD);
      return;
    }
    if (step == Step.EXTRA_LENGTH) {
      extraBytes = number;
    }
    Step next = step;
    do {
      next = Step.values()[next.ordinal() + 1];
    } while (!isPresent(next));
    begin(next);
    if (next == Step.CONTENT) {
      inflater.reset();
      sum.reset();
      inflateRest();
    }
  }

  private boolean isPresent(Step next) {
    return switch (next) {
      case EXTRA_LENGTH -> (flags & HAS_EXTRA) != 0;
      case EXTRA -> (flags & HAS_EXTRA) != 0 && extraBytes > 0;
      case NAME -> (flags & HAS_NAME) != 0;
      case COMMENT -> (flags & HAS_COMMENT) != 0;
      case HEAD_SUM -> (flags & HAS_HEAD_SUM) != 0;
      default -> true;
    };
  }

  private void begin(Step next) {
    step = next;
    count = 0;
    number = 0;
  }

  private static void require(boolean holds) throws DataFormatException {
    if (!holds) {
      throw new DataFormatException("No gzip");
    }
  }

  /** Whether all that was taken is nothing but whole members. */
  public boolean isWhole() {
    return isAnyWhole && step == Step.HEAD && count == 0;
  }

  /** Whether all that was taken begins with whole members. What stands behind them is ignored. */
  public boolean isReadable() {
    return isWhole() || step == Step.BEHIND;
  }

  @Override
  public void close() {
    inflater.end();
  }

  /** The bytes that others are when they are no longer compressed. */
  public static final class Unzipped implements ByteSource {
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
}
