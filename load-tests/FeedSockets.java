import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * Connections with a live feed each. One thread reads all of them, so that it takes little of the
 * cores that it shares with the server.
 */
final class FeedSockets implements AutoCloseable {
  private static final int CHUNK = 1 << 16;

  private final Selector selector;

  /** Takes the bytes of one feed, on the reading thread. */
  @FunctionalInterface
  interface Taker {
    /**
     * @param nanos when they arrived
     */
    void take(ByteBuffer bytes, long nanos);
  }

  FeedSockets() throws IOException {
    this.selector = Selector.open();
  }

  /** Returns when the head of the answer has arrived. Must not be called after {@link #start}. */
  void open(int port, byte[] request, Taker taker) throws IOException {
    SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    channel.write(ByteBuffer.wrap(request));
    ByteBuffer answer = ByteBuffer.allocate(1 << 12);
    channel.read(answer);
    String status = new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
    if (!status.startsWith("HTTP/1.1 200")) {
      throw new IOException(status);
    }
    channel.configureBlocking(false);
    channel.register(selector, SelectionKey.OP_READ, taker);
  }

  void start() {
    Thread reader = new Thread(this::read, "feeds");
    reader.setDaemon(true);
    reader.start();
  }

  private void read() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(CHUNK);
    try {
      while (true) {
        selector.select();
        long nanos = System.nanoTime();
        for (SelectionKey key : selector.selectedKeys()) {
          buffer.clear();
          if (((SocketChannel) key.channel()).read(buffer) < 0) {
            throw new IOException("A feed has ended");
          }
          ((Taker) key.attachment()).take(buffer.flip(), nanos);
        }
        selector.selectedKeys().clear();
      }
    } catch (ClosedSelectorException | CancelledKeyException | ClosedChannelException over) {
      // The measurement is over.
    } catch (IOException e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  @Override
  public void close() throws IOException {
    for (SelectionKey key : selector.keys()) {
      key.channel().close();
    }
    selector.close();
  }
}
