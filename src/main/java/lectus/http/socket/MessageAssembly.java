package lectus.http.socket;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.WebSocketFrame;
import java.util.Optional;

/** Assembles the frames of a text message, within a limit. */
final class MessageAssembly {
  private final int maxBytes;
  private Buffer begun;

  /**
   * @param maxBytes of one message
   */
  MessageAssembly(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** The client exceeded the length of a message. */
  static final class TooBig extends Exception {
    private TooBig() {
      super(null, null, false, false);
    }
  }

  /** Returns the message that the frame, of text or a continuation, completes. */
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

  /** Returns the bytes of an unfinished message. */
  int begun() {
    return begun == null ? 0 : begun.length();
  }

  private Buffer taken() {
    Buffer whole = begun;
    begun = null;
    return whole;
  }
}
