package lectus.server.connection;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Answers the first request of a connection for which there is no room. Only a few are answered at
 * a time; the others are closed at once, because a refusal must cost next to nothing.
 */
final class Refusals {
  private static final int MOST_AT_ONCE = 512;

  private static final byte[] TOO_MANY =
      LastAnswer.bytes(
          "503 Service Unavailable\r\nRetry-After: 1",
          "service_unavailable",
          "Too many connections are open.");

  private final byte[] answer;
  private final AtomicInteger telling = new AtomicInteger();

  /**
   * @param encrypted whether clients speak TLS; a handshake for a refusal would cost too much
   */
  Refusals(boolean encrypted) {
    this.answer = encrypted ? LastAnswer.tlsAlert() : TOO_MANY;
  }

  /**
   * @param loop that serves it
   */
  void refuse(Channel channel, EventLoop loop) {
    if (telling.incrementAndGet() > MOST_AT_ONCE) {
      telling.decrementAndGet();
      channel.unsafe().closeForcibly();
      return;
    }
    channel.closeFuture().addListener(closed -> telling.decrementAndGet());
    channel.pipeline().addLast(new RefusedConnection(answer));
    loop.register(channel)
        .addListener(
            registered -> {
              if (!registered.isSuccess()) {
                channel.unsafe().closeForcibly();
              }
            });
  }
}
