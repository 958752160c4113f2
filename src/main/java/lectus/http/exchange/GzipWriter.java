package lectus.http.exchange;

import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Content as gzip, part by part (RFC 1952). What was written can be read at once: each part ends on
 * a boundary of bytes. For one thread at a time; memory that is not of the heap is used until it is
 * closed.
 */
final class GzipWriter implements AutoCloseable {
  /** Deflated, without a name or a time, by an unknown system. */
  private static final byte[] HEAD = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};

  private static final int TAIL_BYTES = 8;
  private static final int LEAST_CAPACITY = 256;
  private static final int PIECE_BYTES = 8 << 10;

  private final Deflater deflater;
  private final CRC32 sum = new CRC32();
  private boolean begun;

  GzipWriter(int level) {
    this.deflater = new Deflater(level, true);
  }

  /** Returns content as a whole. */
  static Buffer whole(int level, Buffer content) {
    try (GzipWriter writer = new GzipWriter(level)) {
      return writer.last(content);
    }
  }

  Buffer part(Buffer content) {
    return write(content, Deflater.SYNC_FLUSH);
  }

  /** Returns the last part; nothing may follow. */
  Buffer last(Buffer content) {
    deflater.finish();
    Buffer written = write(content, Deflater.NO_FLUSH);
    ByteBuffer tail = ByteBuffer.allocate(TAIL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    tail.putInt((int) sum.getValue()).putInt((int) deflater.getBytesRead());
    return written.appendBytes(tail.array());
  }

  private Buffer write(Buffer content, int flush) {
    byte[] bytes = content.getBytes();
    ByteArrayOutputStream out = new ByteArrayOutputStream(LEAST_CAPACITY + bytes.length / 4);
    if (!begun) {
      begun = true;
      out.writeBytes(HEAD);
    }
    sum.update(bytes);
    deflater.setInput(bytes);
    byte[] piece = new byte[Math.min(PIECE_BYTES, LEAST_CAPACITY + bytes.length)];
    int length;
    do {
      length = deflater.deflate(piece, 0, piece.length, flush);
      out.write(piece, 0, length);
    } while (length == piece.length || (flush == Deflater.NO_FLUSH && !deflater.finished()));
    return Buffer.buffer(out.toByteArray());
  }

  @Override
  public void close() {
    deflater.end();
  }
}
