package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;

/**
 * Writes what is long in pieces where others share the connection. Over HTTP/2 what has been handed
 * over for a client that does not read its stream counts against what the whole connection may
 * send: a megabyte that waits would keep all other answers of a connection back. Of pieces only one
 * is handed over too many; the others wait with their own stream.
 */
public final class InParts {
  private static final int PIECE_BYTES = 8 << 10;

  private InParts() {}

  /** Writes a part of a body. */
  static Future<Void> write(HttpServerResponse response, Buffer part) {
    int rest = allButLast(response, part);
    return response.write(rest == 0 ? part : part.slice(rest, part.length()));
  }

  /** Writes the last part of a body. */
  public static Future<Void> end(HttpServerResponse response, Buffer part) {
    int rest = allButLast(response, part);
    return response.end(rest == 0 ? part : part.slice(rest, part.length()));
  }

  /** Returns where the last piece begins. */
  private static int allButLast(HttpServerResponse response, Buffer part) {
    int at = 0;
    while (isShared(response) && part.length() - at > PIECE_BYTES) {
      response.write(part.slice(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
    }
    return at;
  }

  /** Streams have numbers. */
  private static boolean isShared(HttpServerResponse response) {
    return response.streamId() >= 0;
  }
}
