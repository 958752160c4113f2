package lectus.http.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** WebSocket frames byte for byte, valid and invalid ones (RFC 6455, section 5.2). */
public final class Frames {
  public static final int CONTINUATION = 0;
  public static final int TEXT = 1;
  public static final int BINARY = 2;
  public static final int CLOSE = 8;
  public static final int PING = 9;
  public static final int PONG = 10;

  private static final byte[] MASK = {0x12, 0x34, 0x56, 0x78};

  private Frames() {}

  public static byte[] text(String text) {
    return masked(TEXT, true, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a frame as clients have to send it. */
  public static byte[] masked(int opcode, boolean last, byte[] payload) {
    return frame((last ? 0x80 : 0) | opcode, true, payload);
  }

  /** Returns a frame as only servers may send it. */
  public static byte[] unmasked(int opcode, byte[] payload) {
    return frame(0x80 | opcode, false, payload);
  }

  /**
   * @param head the first byte: the last-frame bit, three reserved ones, the opcode
   */
  public static byte[] frame(int head, boolean masked, byte[] payload) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(head);
    int mask = masked ? 0x80 : 0;
    if (payload.length < 126) {
      out.write(mask | payload.length);
    } else if (payload.length < 1 << 16) {
      out.write(mask | 126);
      out.write(payload.length >>> 8);
      out.write(payload.length);
    } else {
      out.write(mask | 127);
      for (int shift = 56; shift >= 0; shift -= 8) {
        out.write((int) ((long) payload.length >>> shift));
      }
    }
    if (masked) {
      out.writeBytes(MASK);
    }
    for (int i = 0; i < payload.length; i++) {
      out.write(masked ? payload[i] ^ MASK[i % 4] : payload[i]);
    }
    return out.toByteArray();
  }
}
