package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;

/**
 * The bytes of an answer that were written and that the socket has not taken yet. Vert.x counts
 * messages: 16 of them, of any size, may wait before it reports its queue full. For the
 * connection's event loop.
 *
 * <p>What is long is written in chunks where others share the connection. Over HTTP/2 what has been
 * handed over for a client that does not read its stream counts against what the whole connection
 * may send: a megabyte that waits would keep all other answers of a connection back. Of chunks only
 * one is handed over too many; the others wait with their own stream.
 */
public final class Outbox {
  private static final int CHUNK_BYTES = 8 << 10;

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
    int rest = writeAllButLast(response, part);
    return response
        .write(rest == 0 ? part : part.slice(rest, length))
        .onSuccess(written -> taken(length));
  }

  /** Writes the last part of a body. */
  public static Future<Void> end(HttpServerResponse response, Buffer part) {
    int rest = writeAllButLast(response, part);
    return response.end(rest == 0 ? part : part.slice(rest, part.length()));
  }

  /** Returns where the last chunk begins. Streams, which share a connection, have numbers. */
  private static int writeAllButLast(HttpServerResponse response, Buffer part) {
    int at = 0;
    while (response.streamId() >= 0 && part.length() - at > CHUNK_BYTES) {
      response.write(part.slice(at, at + CHUNK_BYTES));
      at += CHUNK_BYTES;
    }
    return at;
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
