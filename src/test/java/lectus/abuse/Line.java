package lectus.abuse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import lectus.http.testing.Frames;

/**
 * A non-blocking connection to the target: in each turn it sends what can be sent and reads as much
 * as it is told to, so that one thread serves thousands of them.
 */
final class Line implements AutoCloseable {
  private static final ByteBuffer SCRATCH = ByteBuffer.allocateDirect(64 << 10);
  private static final int STATUS_LINE = 12;

  private final Target target;
  private final SocketChannel channel;
  private final Deque<ByteBuffer> unsaid = new ArrayDeque<>();
  private final byte[] begin = new byte[STATUS_LINE];
  private long read;
  private boolean over;

  private Line(Target target, SocketChannel channel) {
    this.target = target;
    this.channel = channel;
  }

  /**
   * Begins to connect.
   *
   * @param receiveBytes the size of the receive buffer; 0: the system's default
   */
  static Line to(Target target, int receiveBytes) {
    try {
      SocketChannel channel = SocketChannel.open();
      channel.configureBlocking(false);
      if (receiveBytes > 0) {
        channel.setOption(StandardSocketOptions.SO_RCVBUF, receiveBytes);
      }
      channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target.port()));
      return new Line(target, channel);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Line say(String text) {
    return say(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  Line say(byte[] bytes) {
    return say(ByteBuffer.wrap(bytes));
  }

  /** Sends the bytes as soon as possible. They are not copied. */
  Line say(ByteBuffer bytes) {
    unsaid.add(bytes.duplicate());
    return this;
  }

  boolean hasSaidAll() {
    return unsaid.isEmpty();
  }

  /** Returns how many bytes have arrived so far. */
  long read() {
    return read;
  }

  /** Whether the server has closed or refused it. */
  boolean isOver() {
    return over;
  }

  /** Sends what can be sent now, and reads at most so many bytes. */
  void turn(int mostRead) {
    if (over) {
      return;
    }
    try {
      if (channel.isConnected() || channel.finishConnect()) {
        write();
        read(mostRead);
      }
    } catch (IOException reset) {
      over = true;
    }
  }

  private void write() throws IOException {
    while (!unsaid.isEmpty()) {
      channel.write(unsaid.peek());
      if (unsaid.peek().hasRemaining()) {
        return;
      }
      unsaid.remove();
    }
  }

  private void read(int most) throws IOException {
    ByteBuffer buffer;
    int left = most;
    while (left > 0) {
      synchronized (SCRATCH) {
        buffer = SCRATCH.clear().limit(Math.min(left, SCRATCH.capacity()));
        int count = channel.read(buffer);
        if (count <= 0) {
          over = count < 0;
          return;
        }
        note(buffer.flip());
        left -= count;
      }
    }
  }

  /** The first bytes contain the status of the first answer. */
  private void note(ByteBuffer bytes) {
    long before = read;
    read += bytes.remaining();
    for (int at = (int) before; before < STATUS_LINE && at < Math.min(read, STATUS_LINE); at++) {
      begin[at] = bytes.get();
    }
    if (before < STATUS_LINE && read >= STATUS_LINE) {
      target.count(status());
    }
  }

  private int status() {
    String line = new String(Arrays.copyOf(begin, STATUS_LINE), StandardCharsets.ISO_8859_1);
    return line.startsWith("HTTP/1.") ? Integer.parseInt(line.substring(9)) : 0;
  }

  /** Closes the connection without notice. */
  @Override
  public void close() {
    over = true;
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The bytes of HTTP and WebSockets that the attacks send. */
  static final class Wire {
    private static final String HOST = " HTTP/1.1\r\nHost: 127.0.0.1\r\n";

    private Wire() {}

    static String get(String target) {
      return "GET " + target + HOST + "\r\n";
    }

    static String request(String method, String target, String json) {
      int length = json.getBytes(StandardCharsets.UTF_8).length;
      return head(method, target, length) + json;
    }

    /** Returns a request without its body, which has so many bytes. */
    static String head(String method, String target, long length) {
      return method
          + ' '
          + target
          + HOST
          + "Content-Type: application/json\r\nContent-Length: "
          + length
          + "\r\n\r\n";
    }

    static String upgrade(String target) {
      return "GET "
          + target
          + HOST
          + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
          + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n\r\n";
    }

    /** Returns a subscription to the changes of some databases, in a frame. */
    static byte[] subscribe(String id, String db, String more) {
      return Frames.text(
          "{\"type\":\"subscribe\",\"id\":\"" + id + "\",\"db\":\"" + db + "\"" + more + "}");
    }
  }

  /** The attacked server, and its answers. */
  static final class Target {
    private final int port;
    private final Map<Integer, Integer> statuses = new TreeMap<>();

    public Target(int port) {
      this.port = port;
    }

    public int port() {
      return port;
    }

    synchronized void count(int status) {
      statuses.merge(status, 1, Integer::sum);
    }

    /** Returns the number of answers by their status. */
    public synchronized Map<Integer, Integer> statuses() {
      return new TreeMap<>(statuses);
    }
  }
}
