package lectus.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import lectus.server.connection.ConnectionGate.ClientChannel;
import org.junit.jupiter.api.Test;

/** A connection that is to be evicted for another. */
final class ClientChannelTest {
  private final OpenConnections open = new OpenConnections(1);
  private final EmbeddedChannel channel = new EmbeddedChannel(new Lingering());
  private final ClientChannel client = new ClientChannel(channel, open, address -> false);

  /** After a last answer the server reads on for a while, though Vert.x closes. */
  private static final class Lingering extends ChannelOutboundHandlerAdapter {
    @Override
    public void close(ChannelHandlerContext context, ChannelPromise closed) {}
  }

  @Test
  void one_that_stays_idle_is_closed_even_if_it_lingers() {
    client.evict();
    theLoopLooksAtItsSockets();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void one_that_has_come_into_use_unnoticed_is_spared() {
    client.evict();
    channel.runPendingTasks();
    assertThat(channel.isOpen()).isTrue();
    channel.write(Unpooled.wrappedBuffer(new byte[1]));
    theLoopLooksAtItsSockets();
    assertThat(channel.isOpen()).isTrue();
    assertThat(open.count()).isOne();
  }

  private void theLoopLooksAtItsSockets() {
    channel.advanceTimeBy(1, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
  }
}
