package lectus.attachment;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Writes one member of gzip (RFC 1952), byte for byte as zlib does on Unix. For one thread at a
 * time; memory that is not of the heap is used until it is closed.
 */
public final class GzipWriter implements AutoCloseable {
  private static final byte DEFLATED = 8;
  private static final byte BEST = 2;
  private static final byte FASTEST = 4;
  private static final byte UNIX = 3;
  private static final int TAIL_BYTES = 8;
  private static final int MIN_CAPACITY = 256;
  private static final int PIECE_BYTES = 8 << 10;

  private final int level;
  private final Out out;
  private final Deflater deflater;
  private final CRC32 sum = new CRC32();
  private boolean begun;

  /** Takes the bytes of the format. */
  @FunctionalInterface
  public interface Out {
    /** The array is used again afterwards. */
    void write(byte[] bytes, int from, int to);
  }

  /**
   * @param level 1 to 9
   */
  public GzipWriter(int level, Out out) {
    this.level = level;
    this.out = out;
    this.deflater = new Deflater(level, true);
  }

  public void write(byte[] bytes, int from, int to) {
    put(bytes, from, to, Deflater.NO_FLUSH);
  }

  /** As {@link #write}; all that was written can be read at once. */
  public void writeThrough(byte[] bytes, int from, int to) {
    put(bytes, from, to, Deflater.SYNC_FLUSH);
  }

  /** Writes the rest. Nothing may follow. */
  public void finish() {
    deflater.finish();
    put(new byte[0], 0, 0, Deflater.NO_FLUSH);
    ByteBuffer tail = ByteBuffer.allocate(TAIL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    tail.putInt((int) sum.getValue()).putInt((int) deflater.getBytesRead());
    out.write(tail.array(), 0, TAIL_BYTES);
  }

  private void put(byte[] bytes, int from, int to, int flush) {
    if (!begun) {
      begun = true;
      byte[] head = head();
      out.write(head, 0, head.length);
    }
    sum.update(bytes, from, to - from);
    deflater.setInput(bytes, from, to - from);
    byte[] piece = new byte[Math.min(PIECE_BYTES, MIN_CAPACITY + to - from)];
    int length;
    do {
      length = deflater.deflate(piece, 0, piece.length, flush);
      out.write(piece, 0, length);
    } while (length == piece.length);
  }

  /** No name, no time, and what zlib says of the level and the system. */
  private byte[] head() {
    byte effort =
        switch (level) {
          case Deflater.BEST_COMPRESSION -> BEST;
          case Deflater.BEST_SPEED -> FASTEST;
          default -> 0;
        };
    return new byte[] {0x1f, (byte) 0x8b, DEFLATED, 0, 0, 0, 0, 0, effort, UNIX};
  }

  @Override
  public void close() {
    deflater.end();
  }
}
