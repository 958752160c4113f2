package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;

/**
 * The bytes of an answer that were written and that the socket has not taken yet. Vert.x counts
 * messages: 16 of them, of any size, may wait before it reports its queue full. For the
 * connection's event loop.
 */
public final class Outbox {
  private final HttpServerResponse response;
  private final int mostBytes;
  private long waitingBytes;
  private Runnable whenRoom;

  /**
   * @param mostBytes above which the outbox is full
   */
  public Outbox(HttpServerResponse response, int mostBytes) {
    this.response = response;
    this.mostBytes = mostBytes;
  }

  /**
   * Writes a part of the answer's body, even if the outbox is full.
   *
   * @return completes when the socket has taken the part, or never will
   */
  public Future<Void> write(Buffer part) {
    int length = part.length();
    waitingBytes += length;
    return InParts.write(response, part).onSuccess(written -> taken(length));
  }

  public boolean isFull() {
    return waitingBytes > mostBytes;
  }

  /** Whether a part does not make it full. */
  boolean hasRoomFor(int bytes) {
    return waitingBytes + bytes <= mostBytes;
  }

  /** Runs {@code next} once, when half of the outbox is free. */
  public void whenRoom(Runnable next) {
    whenRoom = next;
  }

  private void taken(int length) {
    waitingBytes -= length;
    if (whenRoom != null && waitingBytes <= mostBytes / 2) {
      Runnable next = whenRoom;
      whenRoom = null;
      next.run();
    }
  }
}
