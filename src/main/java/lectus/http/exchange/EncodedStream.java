package lectus.http.exchange;

import io.vertx.core.buffer.Buffer;
import lectus.gzip.GzipWriter;

/** The parts of a streamed answer in their encoding, in order. */
sealed interface EncodedStream {
  EncodedStream PLAIN = new Plain();

  Buffer part(Buffer content);

  Buffer last(Buffer content);

  /** Frees its memory, as soon as no part is being encoded; at any time, more than once as well. */
  void close();

  /** The content as it is. */
  record Plain() implements EncodedStream {
    @Override
    public Buffer part(Buffer content) {
      return content;
    }

    @Override
    public Buffer last(Buffer content) {
      return content;
    }

    @Override
    public void close() {}
  }

  /** As gzip. A part may be encoded on one thread while the client leaves on another. */
  final class Gzipped implements EncodedStream {
    private static final int LEAST_CAPACITY = 256;

    private final GzipWriter writer;
    private final Runnable leave;
    private Buffer encoded = Buffer.buffer();
    private boolean inUse;
    private boolean closed;
    private boolean freed;

    Gzipped(int level, Runnable leave) {
      this.leave = leave;
      this.writer =
          new GzipWriter(level, (bytes, from, to) -> encoded.appendBytes(bytes, from, to - from));
    }

    @Override
    public Buffer part(Buffer content) {
      return begin() ? used(content, false) : Buffer.buffer();
    }

    @Override
    public Buffer last(Buffer content) {
      return begin() ? used(content, true) : Buffer.buffer();
    }

    private Buffer used(Buffer content, boolean isLast) {
      try {
        byte[] bytes = content.getBytes();
        encoded = Buffer.buffer(LEAST_CAPACITY + bytes.length / 4);
        if (isLast) {
          writer.write(bytes, 0, bytes.length);
          writer.finish();
        } else {
          writer.writeThrough(bytes, 0, bytes.length);
        }
        return encoded;
      } finally {
        encoded = Buffer.buffer();
        done();
      }
    }

    private synchronized boolean begin() {
      inUse = !closed;
      return inUse;
    }

    private synchronized void done() {
      inUse = false;
      freeIfClosed();
    }

    @Override
    public synchronized void close() {
      closed = true;
      freeIfClosed();
    }

    private void freeIfClosed() {
      if (closed && !inUse && !freed) {
        freed = true;
        writer.close();
        leave.run();
      }
    }
  }
}
