import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Loads two servers in turns of a fraction of a second, in the order A B B A, so that whatever
 * slows the machine down slows down both. Each four turns give a ratio A / B of requests a second,
 * and one of the processes' CPU time for a request. Prints the medians of these ratios, then requests
 * a second of A and B, and CPU time for a request in microseconds of A and B. Linux only. Run with {@code java
 * load-tests/InTurns.java GET|PUT CONNECTIONS SECONDS PORT PID PORT PID}; the servers have a
 * database {@code db} with a document {@code doc}.
 */
public final class InTurns {
  private static final long TURN_NANOS = 250_000_000;
  private static final double HERTZ = 100;
  private static final String BODY = "{\"name\":\"a document\",\"text\":\"" + "x".repeat(200) + "\"}";

  private final String what;
  private final Selector selector = Selector.open();
  private final Path stat;
  private final List<SelectionKey> keys = new ArrayList<>();
  private final String run = Long.toString(System.nanoTime(), 36);
  private long sent;
  private long answered;
  private long nanos;
  private long ticks;

  private static final class Client {
    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocate(16_384);

    Client(SocketChannel channel) {
      this.channel = channel;
    }

    void send(byte[] request) throws IOException {
      in.clear();
      ByteBuffer out = ByteBuffer.wrap(request);
      while (out.hasRemaining()) {
        channel.write(out);
      }
    }

    /** Returns whether the answer is whole. */
    boolean read() throws IOException {
      if (channel.read(in) < 0) {
        throw new IOException("The server has closed a connection.");
      }
      String text = new String(in.array(), 0, in.position(), StandardCharsets.ISO_8859_1);
      int head = text.indexOf("\r\n\r\n");
      if (head < 0) {
        return false;
      }
      if (!text.startsWith("HTTP/1.1 20")) {
        throw new IOException(text);
      }
      int at = text.toLowerCase(Locale.ROOT).indexOf("content-length: ") + "content-length: ".length();
      int length = Integer.parseInt(text.substring(at, text.indexOf("\r\n", at)).trim());
      return text.length() >= head + 4 + length;
    }
  }

  InTurns(String what, int connections, int port, String pid) throws IOException {
    this.what = what;
    this.stat = Path.of("/proc", pid, "stat");
    for (int i = 0; i < connections; i++) {
      SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
      channel.socket().setTcpNoDelay(true);
      channel.configureBlocking(false);
      keys.add(channel.register(selector, SelectionKey.OP_READ, new Client(channel)));
    }
  }

  public static void main(String[] args) throws IOException {
    int connections = Integer.parseInt(args[1]);
    InTurns a = new InTurns(args[0], connections, Integer.parseInt(args[3]), args[4]);
    InTurns b = new InTurns(args[0], connections, Integer.parseInt(args[5]), args[6]);
    long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000_000;
    List<Double> rates = new ArrayList<>();
    List<Double> costs = new ArrayList<>();
    while (System.nanoTime() < end) {
      HttpMetrics beforeA = a.figures();
      HttpMetrics beforeB = b.figures();
      for (InTurns turn : List.of(a, b, b, a)) {
        turn.take();
      }
      HttpMetrics ofA = a.figures().since(beforeA);
      HttpMetrics ofB = b.figures().since(beforeB);
      rates.add(ofA.rate() / ofB.rate());
      costs.add(ofA.micros() / ofB.micros());
    }
    System.out.printf(
        Locale.ROOT,
        "%.5f %.5f %.0f %.0f %.3f %.3f%n",
        median(rates),
        median(costs),
        a.figures().rate(),
        b.figures().rate(),
        a.figures().micros(),
        b.figures().micros());
  }

  private record HttpMetrics(long answered, long nanos, long ticks) {
    HttpMetrics since(HttpMetrics before) {
      return new HttpMetrics(answered - before.answered, nanos - before.nanos, ticks - before.ticks);
    }

    double rate() {
      return answered * 1e9 / nanos;
    }

    double micros() {
      return ticks * 1e6 / HERTZ / answered;
    }
  }

  private HttpMetrics figures() {
    return new HttpMetrics(answered, nanos, ticks);
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }

  /** Every connection sends one request after the other; the turn ends when all are answered. */
  private void take() throws IOException {
    long ticksBefore = ticks();
    long begun = System.nanoTime();
    int open = keys.size();
    for (SelectionKey key : keys) {
      ((Client) key.attachment()).send(request());
    }
    while (open > 0) {
      selector.select();
      boolean isOver = System.nanoTime() - begun > TURN_NANOS;
      for (SelectionKey key : selector.selectedKeys()) {
        Client client = (Client) key.attachment();
        if (client.read()) {
          answered++;
          if (isOver) {
            open--;
          } else {
            client.send(request());
          }
        }
      }
      selector.selectedKeys().clear();
    }
    nanos += System.nanoTime() - begun;
    ticks += ticks() - ticksBefore;
  }

  private byte[] request() {
    String text =
        what.equals("GET")
            ? "GET /db/doc HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            : "PUT /db/" + run + sent++ + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                + "Content-Length: " + BODY.length() + "\r\n\r\n" + BODY;
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Of user and of system, after the name in parentheses. */
  private long ticks() throws IOException {
    String all = Files.readString(stat);
    String[] fields = all.substring(all.lastIndexOf(')') + 2).split(" ");
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }
}
