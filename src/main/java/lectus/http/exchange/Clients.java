package lectus.http.exchange;

import io.netty.channel.Channel;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;
import lectus.http.ReaderTurns;

/**
 * Who takes turns at the readers' threads: a connection, whatever it carries, one request after the
 * other, many at once or a WebSocket's messages.
 */
public final class Clients {
  private final ReaderTurns readers;

  public Clients(ReaderTurns readers) {
    this.readers = readers;
  }

  static Object of(HttpConnection connection) {
    return channel(connection);
  }

  /** What a request's connection is used for. */
  static ConnectionUse use(HttpConnection connection) {
    return ConnectionUse.of(channel(connection));
  }

  /** What waits for the client is dropped when its connection is closed, by whomever. */
  public void watch(HttpConnection connection) {
    Channel channel = channel(connection);
    channel.closeFuture().addListener(closed -> readers.left(channel));
  }

  private static Channel channel(HttpConnection connection) {
    return ((HttpServerConnection) connection).channelHandlerContext().channel();
  }
}
