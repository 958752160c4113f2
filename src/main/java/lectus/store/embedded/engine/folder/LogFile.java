package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.zip.CRC32C;

/**
 * Reads RocksDB's write-ahead log format to find the end of the last whole record.
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
public final class LogFile {
  private static final int BLOCK_BYTES = 32_768;
  private static final int HEADER_BYTES = 7;
  private static final int TYPE_OFFSET = 6;
  private static final int LENGTH_OFFSET = 4;
  private static final int FULL = 1;
  private static final int FIRST = 2;
  private static final int MIDDLE = 3;
  private static final int LAST = 4;
  private static final Set<Integer> RECYCLED_TYPES = Set.of(5, 6, 7, 8, 11, 131);

  /** A write batch begins with a sequence number, 8 bytes, and a count, 4 bytes. */
  private static final int BATCH_HEADER_BYTES = 12;

  private static final long UNKNOWN = -1;
  private static final int CRC_ROTATION = 15;
  private static final int CRC_MASK_DELTA = 0xA282EAD8;

  final ByteBuffer bytes;
  private final CRC32C crc = new CRC32C();
  private int stop;
  private long nextSequence = UNKNOWN;

  private LogFile(ByteBuffer bytes) {
    this.bytes = bytes.order(ByteOrder.LITTLE_ENDIAN);
  }

  static LogFile read(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() > Integer.MAX_VALUE) {
        throw new IOException(file.getFileName() + " is longer than any log becomes");
      }
      return new LogFile(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
    }
  }

  /** Returns the end of the last record up to which everything is whole. */
  long wholeLength() {
    int whole = 0;
    int begin = 0;
    boolean inside = false;
    for (stop = 0; isFragment(stop); stop = skipFiller(end(stop))) {
      int type = type(stop);
      boolean continues = type == MIDDLE || type == LAST;
      if (continues != inside) {
        return whole;
      }
      begin = continues ? begin : stop;
      inside = type == FIRST || type == MIDDLE;
      if (!inside) {
        whole = end(stop);
        nextSequence = sequenceBehind(begin);
      }
    }
    return whole;
  }

  /**
   * Returns whether {@link #wholeLength} stopped at the header of a recycled log. The engine's logs
   * never have one, so this is not a torn record, and RocksDB would read it in an endless loop.
   */
  boolean stopsAtRecycled() {
    return stop + HEADER_BYTES <= bytes.limit() && RECYCLED_TYPES.contains(type(stop));
  }

  /**
   * Returns whether a record begins after the one at {@code torn}. The committer writes a record
   * only once the previous one is on disk, so this is damage, not a torn tail.
   *
   * <p>The torn record holds a client's data, which may imitate a record. So a record counts where
   * RocksDB would have begun it. Elsewhere it counts only if it continues the sequence numbers.
   */
  boolean hasRecordBehind(long torn) {
    int begin = skipFiller((int) torn);
    LongPredicate goesOn = sequencesBehind(begin);
    for (int block = begin; block < bytes.limit(); block = blockEnd(block)) {
      int position = block;
      while (position < blockEnd(block) && isFragment(position)) {
        if (position > begin && isBegin(position)) {
          return true;
        }
        position = end(position);
      }
      if (hasRecordIn(position, blockEnd(block), goesOn)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether a record begins between a broken fragment and the end of its block. */
  private boolean hasRecordIn(int broken, int blockEnd, LongPredicate goesOn) {
    int last = Math.min(blockEnd, bytes.limit()) - HEADER_BYTES - BATCH_HEADER_BYTES;
    for (int position = broken + 1; position <= last; position++) {
      if (isBegin(position)
          && isFragment(position)
          && (position == end(broken) || goesOn.test(sequence(position)))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns a test for the sequence numbers of a record after the torn one, as far as they are
   * known.
   */
  private LongPredicate sequencesBehind(int torn) {
    long behind = sequenceBehind(torn);
    boolean known =
        behind != UNKNOWN && (nextSequence == UNKNOWN || sequence(torn) == nextSequence);
    return known ? sequence -> sequence == behind : sequence -> sequence >= nextSequence;
  }

  /** Each record is a write batch: the sequence number of its first row and its number of rows. */
  private long sequenceBehind(int record) {
    int limit = Math.min(blockEnd(record), bytes.limit());
    if (record + HEADER_BYTES + BATCH_HEADER_BYTES > limit || !isBegin(record)) {
      return UNKNOWN;
    }
    return sequence(record) + bytes.getInt(record + HEADER_BYTES + Long.BYTES);
  }

  private long sequence(int record) {
    return bytes.getLong(record + HEADER_BYTES);
  }

  private boolean isBegin(int position) {
    int type = type(position);
    return type == FULL || type == FIRST;
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
