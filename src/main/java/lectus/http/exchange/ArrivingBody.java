package lectus.http.exchange;

import io.vertx.core.buffer.Buffer;
import java.util.Arrays;
import lectus.error.LectusException;

/**
 * A body while it arrives; each byte is counted before memory is allocated for it. The memory
 * doubles, up to the length that the client announced, so an announcement alone gets little. For
 * the connection's event loop.
 */
final class ArrivingBody {
  private static final byte[] NOTHING = {};

  private final HeldMemory held;
  private final int announced;
  private byte[] room = NOTHING;
  private int length;

  /**
   * @param announced length in bytes; 0: none
   */
  ArrivingBody(HeldMemory held, int announced) {
    this.held = held;
    this.announced = announced;
  }

  int length() {
    return length;
  }

  /**
   * @throws LectusException service_unavailable (503): others hold too much
   */
  void append(Buffer part) {
    int longer = length + part.length();
    if (longer > room.length) {
      grow(longer);
    }
    part.getBytes(0, part.length(), room, length);
    length = longer;
  }

  private void grow(int least) {
    long doubled = 2L * room.length;
    int size = (int) Math.max(least, announced > 0 ? Math.min(doubled, announced) : doubled);
    held.bodyGrows(size - room.length);
    room = Arrays.copyOf(room, size);
  }

  /** Returns the whole body and keeps none of it. */
  byte[] taken() {
    byte[] whole = length == room.length ? room : Arrays.copyOf(room, length);
    room = NOTHING;
    length = 0;
    return whole;
  }

  void drop() {
    room = NOTHING;
    length = 0;
  }
}
