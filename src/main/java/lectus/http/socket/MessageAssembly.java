package lectus.http.socket;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.WebSocketFrame;
import java.util.Optional;

/** Joins the frames of a text message, within a limit. */
final class MessageAssembly {
  private final int maxBytes;
  private Buffer begun;

  /**
   * @param maxBytes of one message
   */
  MessageAssembly(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** The client sent more than a message may have. */
  static final class TooBig extends Exception {
    private TooBig() {
      super(null, null, false, false);
    }
  }

  /** The message that the frame, of text or a continuation, completes. */
  Optional<Buffer> add(WebSocketFrame frame) throws TooBig {
    Buffer part = frame.binaryData();
    if (part.length() + (begun == null ? 0L : begun.length()) > maxBytes) {
      throw new TooBig();
    }
    if (begun == null && frame.isFinal()) {
      return Optional.of(part);
    }
    begun = (begun == null ? Buffer.buffer() : begun).appendBuffer(part);
    return frame.isFinal() ? Optional.of(taken()) : Optional.empty();
  }

  /** Bytes of a message that has more frames. */
  int begun() {
    return begun == null ? 0 : begun.length();
  }

  private Buffer taken() {
    Buffer whole = begun;
    begun = null;
    return whole;
  }
}
