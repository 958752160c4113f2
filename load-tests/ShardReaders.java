import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Opens one continuous feed for each changes shard of a database, writes documents, and measures
 * the server's CPU time: 64 readers of 64 shards compared with 16 of 16 for the same writes.
 *
 * <pre>
 * javac -d target/load-tests load-tests/{ShardReaders,FeedSockets,LoadedServer}.java
 * java -cp target/load-tests ShardReaders PORT PID [WRITES_A_SECOND [SECONDS]]
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
  private final AtomicInteger arrived = new AtomicInteger();

  private ShardReaders(int port, int shards) {
    this.port = port;
    this.shards = shards;
    this.database = "shards-" + shards + "-" + System.currentTimeMillis();
  }

  public static void main(String[] args) throws IOException {
    int port = Integer.parseInt(args[0]);
    int rate = args.length > 2 ? Integer.parseInt(args[2]) : 50;
    int seconds = args.length > 3 ? Integer.parseInt(args[3]) : 20;
    try (LoadedServer server = new LoadedServer(port, Long.parseLong(args[1]))) {
      double few = new ShardReaders(port, FEW).run(server, rate, seconds);
      double many = new ShardReaders(port, MANY).run(server, rate, seconds);
      System.out.printf("ratio %.2f%n", many / few);
    }
  }

  /** Returns the server's CPU time for a write, in milliseconds. */
  private double run(LoadedServer server, int rate, int seconds) throws IOException {
    server.send("PUT", "/" + database + "?changes_shards=" + shards, "");
    try (FeedSockets feeds = new FeedSockets()) {
      for (int shard = 0; shard < shards; shard++) {
        Rows rows = new Rows();
        feeds.open(port, feed(shard), (bytes, nanos) -> arrived.addAndGet(rows.in(bytes)));
      }
      feeds.start();
      write(server, 0, rate * WARM_UP_SECONDS, rate);
      double before = server.cpuSeconds();
      write(server, rate * WARM_UP_SECONDS, rate * (WARM_UP_SECONDS + seconds), rate);
      awaitRows(rate * (WARM_UP_SECONDS + seconds));
      double each = (server.cpuSeconds() - before) * 1_000 / (rate * seconds);
      System.out.printf(
          "%d readers of %d shards, %d writes/s: %d rows, %.2f ms of CPU a write%n",
          shards, shards, rate, arrived.get(), each);
      return each;
    }
  }

  private byte[] feed(int shard) {
    String path = "/" + database + "/_changes/" + shard + "?feed=continuous&heartbeat=60000";
    return LoadedServer.request("GET", path, "");
  }

  private void write(LoadedServer server, int from, int to, int rate) throws IOException {
    long pause = 1_000_000_000L / rate;
    long due = System.nanoTime();
    for (int n = from; n < to; n++) {
      server.send("PUT", "/" + database + "/w" + n, "{\"n\":" + n + "}");
      due += pause;
      LockSupport.parkNanos(Math.max(0, due - System.nanoTime()));
    }
  }

  /** Each document is a row for one reader. */
  private void awaitRows(int count) throws IOException {
    long start = System.nanoTime();
    while (arrived.get() < count && System.nanoTime() - start < PATIENCE_NANOS) {
      LockSupport.parkNanos(1_000_000);
    }
    if (arrived.get() != count) {
      throw new IOException(arrived.get() + " rows came, " + count + " were due");
    }
  }

  /** Counts the rows of one feed, however they are split. */
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
}
