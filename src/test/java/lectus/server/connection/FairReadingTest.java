package lectus.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import lectus.server.connection.Http2Preface.FairReading;
import lectus.server.connection.Http2Preface.UpgradeToHttp2;
import org.junit.jupiter.api.Test;

final class FairReadingTest {
  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final int LENGTH = 10_000;

  private final ByteArrayOutputStream handled = new ByteArrayOutputStream();
  private int turns;

  /** What a slice costs, by the clock. */
  private long costNanos;

  private final EmbeddedChannel channel =
      new EmbeddedChannel(
          new FairReading(),
          new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
              ByteBuf bytes = (ByteBuf) message;
              byte[] copy = new byte[bytes.readableBytes()];
              bytes.readBytes(copy);
              handled.writeBytes(copy);
              ReferenceCountUtil.release(message);
              long begun = System.nanoTime();
              while (System.nanoTime() - begun < costNanos) {
                LockSupport.parkNanos(costNanos);
              }
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
              turns++;
            }
          });

  private static byte[] bytes() {
    byte[] bytes = new byte[LENGTH];
    new Random(1).nextBytes(bytes);
    return bytes;
  }

  @Test
  void what_takes_long_is_handled_in_turns_and_nothing_is_read_between_them() {
    costNanos = TURN_NANOS;
    byte[] bytes = bytes();
    ByteBuf received = Unpooled.copiedBuffer(bytes);
    // Runs the timers that are due once.
    channel.writeInbound(received);
    assertThat(handled.size()).isLessThan(LENGTH);
    assertThat(channel.config().isAutoRead()).isFalse();
    while (handled.size() < LENGTH) {
      int before = handled.size();
      channel.runPendingTasks();
      assertThat(handled.size() - before).isLessThan(LENGTH / 2);
    }
    assertThat(handled.toByteArray()).isEqualTo(bytes);
    assertThat(turns).isGreaterThan(LENGTH / 512);
    assertThat(channel.config().isAutoRead()).isTrue();
    assertThat(received.refCnt()).isZero();
  }

  @Test
  void what_waits_is_released_when_the_connection_ends() {
    costNanos = TURN_NANOS;
    ByteBuf received = Unpooled.copiedBuffer(bytes());
    channel.writeInbound(received);
    assertThat(handled.size()).isLessThan(LENGTH);
    channel.close();
    channel.runPendingTasks();
    assertThat(received.refCnt()).isZero();
  }

  @Test
  void a_socket_that_others_have_stopped_reading_stays_so() {
    channel.config().setAutoRead(false);
    channel.writeInbound(Unpooled.copiedBuffer(bytes()));
    assertThat(handled.size()).isEqualTo(LENGTH);
    assertThat(channel.config().isAutoRead()).isFalse();
  }

  private static DefaultHttpRequest asksForHttp2() {
    DefaultHttpRequest request =
        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/_up");
    request.headers().set("Connection", "Upgrade, HTTP2-Settings");
    request.headers().set("Upgrade", "h2c").set("HTTP2-Settings", "AAMAAABk");
    return request;
  }

  @Test
  void a_first_request_that_may_upgrade_is_followed_by_fair_reading() {
    EmbeddedChannel connection = new EmbeddedChannel(new UpgradeToHttp2());
    connection.writeInbound(asksForHttp2());
    assertThat(connection.pipeline().get(FairReading.class)).isNotNull();
    assertThat(connection.pipeline().get(UpgradeToHttp2.class)).isNull();
  }

  @Test
  void later_requests_that_ask_for_http_2_add_nothing_to_the_connection() {
    EmbeddedChannel connection = new EmbeddedChannel(new UpgradeToHttp2());
    connection.writeInbound(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
    connection.writeInbound(asksForHttp2());
    assertThat(connection.pipeline().get(FairReading.class)).isNull();
  }
}
