import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Opens one continuous feed for each changes shard of a database, writes documents, and tells what
 * the server spends on it: 64 readers of 64 shards beside 16 of 16 for the same writes.
 *
 * <pre>
 * java load-tests/ShardReaders.java PORT PID [WRITES_A_SECOND [SECONDS]]
 * </pre>
 */
public final class ShardReaders {
  private static final int WARM_UP_SECONDS = 10;
  private static final int FEW = 16;
  private static final int MANY = 64;
  private static final long PATIENCE_NANOS = 30_000_000_000L;
  private static final byte[] MARK = "\"id\":\"".getBytes(StandardCharsets.US_ASCII);

  private final int port;
  private final int shards;
  private final String database;
  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicInteger arrived = new AtomicInteger();

  private ShardReaders(int port, int shards) {
    this.port = port;
    this.shards = shards;
    this.database = "shards-" + shards + "-" + System.currentTimeMillis();
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    long server = Long.parseLong(args[1]);
    int rate = args.length > 2 ? Integer.parseInt(args[2]) : 50;
    int seconds = args.length > 3 ? Integer.parseInt(args[3]) : 20;
    double few = new ShardReaders(port, FEW).run(server, rate, seconds);
    double many = new ShardReaders(port, MANY).run(server, rate, seconds);
    System.out.printf("ratio %.2f%n", many / few);
  }

  /** The milliseconds of CPU that the server spent on a write. */
  private double run(long server, int rate, int seconds) throws Exception {
    request("PUT", "/" + database + "?changes_shards=" + shards, "");
    List<SocketChannel> sockets = new ArrayList<>();
    try (Selector selector = Selector.open()) {
      for (int shard = 0; shard < shards; shard++) {
        sockets.add(open(selector, shard));
      }
      Thread reader = new Thread(() -> read(selector));
      reader.setDaemon(true);
      reader.start();
      write(0, rate * WARM_UP_SECONDS, rate);
      double before = cpuSeconds(server);
      write(rate * WARM_UP_SECONDS, rate * (WARM_UP_SECONDS + seconds), rate);
      awaitRows(rate * (WARM_UP_SECONDS + seconds));
      double each = (cpuSeconds(server) - before) * 1_000 / (rate * seconds);
      System.out.printf(
          "%d readers of %d shards, %d writes/s: %d rows, %.2f ms of CPU a write%n",
          shards, shards, rate, arrived.get(), each);
      return each;
    } finally {
      for (SocketChannel socket : sockets) {
        socket.close();
      }
    }
  }

  private void write(int from, int to, int rate) throws Exception {
    long pause = 1_000_000_000L / rate;
    long due = System.nanoTime();
    for (int n = from; n < to; n++) {
      request("PUT", "/" + database + "/w" + n, "{\"n\":" + n + "}");
      due += pause;
      LockSupport.parkNanos(Math.max(0, due - System.nanoTime()));
    }
  }

  /** Each document is a row of one reader. */
  private void awaitRows(int count) throws IOException {
    long start = System.nanoTime();
    while (arrived.get() < count && System.nanoTime() - start < PATIENCE_NANOS) {
      LockSupport.parkNanos(1_000_000);
    }
    if (arrived.get() != count) {
      throw new IOException(arrived.get() + " rows came, " + count + " were due");
    }
  }

  private SocketChannel open(Selector selector, int shard) throws IOException {
    String head =
        "GET /%s/_changes/%d?feed=continuous&heartbeat=60000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            .formatted(database, shard);
    SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
    channel.write(ByteBuffer.wrap(head.getBytes(StandardCharsets.UTF_8)));
    ByteBuffer answer = ByteBuffer.allocate(1 << 12);
    channel.read(answer);
    String status = new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
    if (!status.startsWith("HTTP/1.1 200")) {
      throw new IOException(status);
    }
    channel.configureBlocking(false);
    channel.register(selector, SelectionKey.OP_READ, new Rows());
    return channel;
  }

  private void read(Selector selector) {
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    try {
      while (selector.isOpen()) {
        selector.select(1_000);
        for (SelectionKey key : selector.selectedKeys()) {
          buffer.clear();
          if (((SocketChannel) key.channel()).read(buffer) < 0) {
            throw new IOException("A feed has ended.");
          }
          arrived.addAndGet(((Rows) key.attachment()).in(buffer.flip()));
        }
        selector.selectedKeys().clear();
      }
    } catch (ClosedSelectorException | CancelledKeyException e) {
      return; // the measurement is over
    } catch (IOException e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  /** Counts the rows of one feed, however they are cut into pieces. */
  private static final class Rows {
    private int matched;

    int in(ByteBuffer bytes) {
      int rows = 0;
      while (bytes.hasRemaining()) {
        byte octet = bytes.get();
        matched = octet == MARK[matched] ? matched + 1 : octet == MARK[0] ? 1 : 0;
        if (matched == MARK.length) {
          rows++;
          matched = 0;
        }
      }
      return rows;
    }
  }

  private void request(String method, String path, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() > 202) {
      throw new IOException(answer.body());
    }
  }

  /** Of all threads so far, the kernel's share among it. */
  private static double cpuSeconds(long process) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
  }
}
