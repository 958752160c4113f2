package lectus.store.embedded.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * RocksDB's write-ahead log format, read to find out where the last whole record ends.
 *
 * <pre>
 * file:     block*            of 32 768 bytes, the last one shorter
 * block:    fragment* filler  (no fragment begins in the last 6 bytes of a block)
 * fragment: masked CRC-32C of type and data (4 bytes), length (2 bytes), type (1 byte), data
 * record:   FULL | FIRST MIDDLE* LAST
 * </pre>
 *
 * All numbers are little-endian. Recycled logs have another header; the engine does not recycle.
 */
final class LogFile {
  private static final int BLOCK_BYTES = 32_768;
  private static final int HEADER_BYTES = 7;
  private static final int TYPE_OFFSET = 6;
  private static final int LENGTH_OFFSET = 4;
  private static final int FULL = 1;
  private static final int FIRST = 2;
  private static final int MIDDLE = 3;
  private static final int LAST = 4;
  private static final Set<Integer> RECYCLED_TYPES = Set.of(5, 6, 7, 8, 11, 131);
  private static final int CRC_ROTATION = 15;
  private static final int CRC_MASK_DELTA = 0xA282EAD8;

  private final ByteBuffer bytes;
  private final CRC32C crc = new CRC32C();
  private int stop;

  private LogFile(ByteBuffer bytes) {
    this.bytes = bytes.order(ByteOrder.LITTLE_ENDIAN);
  }

  static LogFile read(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return new LogFile(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
    }
  }

  long length() {
    return bytes.limit();
  }

  /** Where the last record ends before which everything is whole. */
  long wholeLength() {
    int whole = 0;
    boolean inside = false;
    for (stop = 0; isFragment(stop); stop = skipFiller(end(stop))) {
      int type = type(stop);
      boolean continues = type == MIDDLE || type == LAST;
      if (continues != inside) {
        return whole;
      }
      inside = type == FIRST || type == MIDDLE;
      if (!inside) {
        whole = end(stop);
      }
    }
    return whole;
  }

  /**
   * Whether {@link #wholeLength} stopped at a header of a recycled log. No log of ours has one, so
   * it is no torn record, and RocksDB would read it again and again for ever.
   */
  boolean stopsAtRecycled() {
    return stop + HEADER_BYTES <= bytes.limit() && RECYCLED_TYPES.contains(type(stop));
  }

  /**
   * Whether a record begins behind the one that begins at {@code torn}. The committer writes a
   * record only when the one before it is on disk, so this is no torn tail but damage.
   */
  boolean hasRecordBehind(long torn) {
    int begin = skipFiller((int) torn) + 1;
    for (int position = begin; position + HEADER_BYTES <= bytes.limit(); position++) {
      int type = type(position);
      if ((type == FULL || type == FIRST) && isFragment(position)) {
        return true;
      }
    }
    return false;
  }

  private static int skipFiller(int position) {
    int left = BLOCK_BYTES - position % BLOCK_BYTES;
    return left < HEADER_BYTES ? position + left : position;
  }

  private boolean isFragment(int position) {
    if (position + HEADER_BYTES > bytes.limit()) {
      return false;
    }
    int end = end(position);
    if (end > bytes.limit() || end > blockEnd(position) || type(position) == 0) {
      return false;
    }
    crc.reset();
    crc.update(bytes.slice(position + TYPE_OFFSET, end - position - TYPE_OFFSET));
    int value = (int) crc.getValue();
    return Integer.rotateRight(value, CRC_ROTATION) + CRC_MASK_DELTA == bytes.getInt(position);
  }

  private static int blockEnd(int position) {
    return position - position % BLOCK_BYTES + BLOCK_BYTES;
  }

  private int type(int position) {
    return bytes.get(position + TYPE_OFFSET) & 0xFF;
  }

  private int end(int position) {
    return position + HEADER_BYTES + (bytes.getShort(position + LENGTH_OFFSET) & 0xFFFF);
  }
}
