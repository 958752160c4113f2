package lectus.attachment;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Stores content as gzip (RFC 1952), byte for byte as CouchDB does: an attachment's digest is that
 * of its compressed bytes, so replicas of the same level agree on it. Not thread-safe; memory that
 * is not of the heap is used until it is closed.
 */
final class ContentCompressor implements AutoCloseable {
  private static final byte DEFLATED = 8;
  private static final byte BEST = 2;
  private static final byte FASTEST = 4;
  private static final byte UNIX = 3;
  private static final int TAIL_BYTES = 8;

  private final ContentUpload content;
  private final Deflater deflater;
  private final CRC32 sum = new CRC32();
  private final byte[] piece = new byte[8 << 10];

  ContentCompressor(ContentUpload content, int level) {
    this.content = content;
    this.deflater = new Deflater(level, true);
    store(head(level));
  }

  /** No name, no time, and what zlib says of the level and the system. */
  private static byte[] head(int level) {
    byte effort =
        switch (level) {
          case Deflater.BEST_COMPRESSION -> BEST;
          case Deflater.BEST_SPEED -> FASTEST;
          default -> 0;
        };
    return new byte[] {0x1f, (byte) 0x8b, DEFLATED, 0, 0, 0, 0, 0, effort, UNIX};
  }

  void write(byte[] bytes, int from, int to) {
    sum.update(bytes, from, to - from);
    deflater.setInput(bytes, from, to - from);
    while (!deflater.needsInput()) {
      storeDeflated();
    }
  }

  /** Stores the rest. Nothing may follow. */
  void finish() {
    deflater.finish();
    while (!deflater.finished()) {
      storeDeflated();
    }
    ByteBuffer tail = ByteBuffer.allocate(TAIL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    tail.putInt((int) sum.getValue()).putInt((int) deflater.getBytesRead());
    store(tail.array());
  }

  private void storeDeflated() {
    content.write(piece, 0, deflater.deflate(piece));
  }

  private void store(byte[] bytes) {
    content.write(bytes, 0, bytes.length);
  }

  @Override
  public void close() {
    deflater.end();
  }
}
