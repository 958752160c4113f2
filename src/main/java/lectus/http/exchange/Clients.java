package lectus.http.exchange;

import io.netty.channel.Channel;
import io.vertx.core.http.HttpConnection;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.limits.ReaderTurns;
import lectus.http.limits.VertxInternals;

/**
 * The clients that take turns at the readers' threads. A client is a connection, whatever it
 * carries: requests in sequence, many at once, or a WebSocket's messages.
 */
public final class Clients {
  private final ReaderTurns readers;

  public Clients(ReaderTurns readers) {
    this.readers = readers;
  }

  static Object of(HttpConnection connection) {
    return channel(connection);
  }

  /** Returns the use of a request's connection. */
  public static ConnectionUse use(HttpConnection connection) {
    return ConnectionUse.of(channel(connection));
  }

  /**
   * Checks that the server has room for a request that has just begun.
   *
   * @throws LectusException service_unavailable: its connection has others, and there are too many
   */
  public static void checkRoom(HttpConnection connection) {
    if (use(connection).isCrowded()) {
      throw new LectusException(
          new LectusError.Unavailable("Too many connections and requests are open."));
    }
  }

  /** Drops what waits for the client when its connection is closed, by either side. */
  public void watch(HttpConnection connection) {
    Channel channel = channel(connection);
    channel.closeFuture().addListener(closed -> readers.left(channel));
  }

  /** Runs an action on the connection's event loop once it is closed, by either side. */
  public static void whenClosed(HttpConnection connection, Runnable action) {
    channel(connection).closeFuture().addListener(closed -> action.run());
  }

  private static Channel channel(HttpConnection connection) {
    return VertxInternals.handler(connection).channel();
  }
}
