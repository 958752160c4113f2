package lectus.http.exchange;

import io.netty.channel.Channel;
import io.vertx.core.http.HttpConnection;
import lectus.http.ReaderTurns;
import lectus.http.netty.VertxInternals;

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
  static ConnectionUse use(HttpConnection connection) {
    return ConnectionUse.of(channel(connection));
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
