import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Opens continuous feeds that each want to see something else of one database, writes documents, and
 * tells how long a row takes from the beginning of its write to its listener, and what the server
 * spends on it.
 *
 * <pre>
 * java load-tests/FilteredFeeds.java PORT PID KIND LISTENERS WRITES_A_SECOND SECONDS
 * </pre>
 *
 * KIND is {@code all}: everybody sees everything; {@code same}: everybody has the same {@code
 * doc_ids}; {@code ids}: each has doc_ids of its own; {@code channels}: each has a selector <code>
 * {"channel": X}</code> of its own; {@code scans}: each has one that is found by no value.
 */
public final class FilteredFeeds {
  private static final Pattern ID = Pattern.compile("\"id\":\"(\\d+)-(\\d+)\"");
  private static final int WARM_UP_SECONDS = 10;

  private final int port;
  private final String kind;
  private final int listeners;
  private final int writes;
  private final String database = "filtered-" + System.currentTimeMillis();
  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicLongArray begun;
  private final long[] latencies;
  private int arrived;

  private FilteredFeeds(int port, String kind, int listeners, int writes) {
    this.port = port;
    this.kind = kind;
    this.listeners = listeners;
    this.writes = writes;
    this.begun = new AtomicLongArray(writes);
    this.latencies = new long[kind.equals("all") ? listeners * writes : writes];
  }

  public static void main(String[] args) throws Exception {
    int rate = Integer.parseInt(args[4]);
    int seconds = Integer.parseInt(args[5]);
    int writes = rate * (seconds + WARM_UP_SECONDS);
    new FilteredFeeds(Integer.parseInt(args[0]), args[2], Integer.parseInt(args[3]), writes)
        .run(Long.parseLong(args[1]), rate, seconds);
  }

  private void run(long server, int rate, int seconds) throws Exception {
    request("PUT", "/" + database, "");
    Selector selector = Selector.open();
    for (int i = 0; i < listeners; i++) {
      open(selector, i);
    }
    Thread reader = new Thread(() -> read(selector));
    reader.setDaemon(true);
    reader.start();
    Thread.sleep(1_000);

    long pause = 1_000_000_000L / rate;
    long due = System.nanoTime();
    double before = 0;
    int warm = rate * WARM_UP_SECONDS;
    for (int n = 0; n < writes; n++) {
      if (n == warm) {
        before = cpuSeconds(server);
      }
      begun.set(n, System.nanoTime());
      int who = n % listeners;
      request("PUT", "/" + database + "/" + who + "-" + n, "{\"channel\":\"c" + who + "\",\"n\":1}");
      due += pause;
      LockSupport.parkNanos(Math.max(0, due - System.nanoTime()));
    }
    Thread.sleep(2_000);
    double cpu = cpuSeconds(server) - before;
    long[] all;
    synchronized (this) {
      all = Arrays.copyOf(latencies, arrived);
    }
    Arrays.sort(all);
    System.out.printf(
        "%-8s %5d listeners, %d writes/s: %d rows, p50 %.1f ms, p99 %.1f ms, %.2f cores%n",
        kind,
        listeners,
        rate,
        all.length,
        at(all, 0.5),
        at(all, 0.99),
        cpu / seconds);
  }

  private static double at(long[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) ((sorted.length - 1) * share)] / 1e6;
  }

  private String body(int listener) {
    return switch (kind) {
      case "ids" -> ids(listener);
      case "same" -> ids(0);
      case "channels" -> "{\"selector\":{\"channel\":\"c" + listener + "\"}}";
      case "scans" -> "{\"selector\":{\"channel\":{\"$regex\":\"^c" + listener + "$\"}}}";
      default -> "{}";
    };
  }

  /** The ids of all documents that are written for a listener. */
  private String ids(int listener) {
    StringBuilder ids = new StringBuilder("{\"doc_ids\":[\"none\"");
    for (int n = listener; n < writes; n += listeners) {
      ids.append(",\"").append(listener).append('-').append(n).append('"');
    }
    return ids.append("]}").toString();
  }

  private void open(Selector selector, int listener) throws IOException {
    String filter =
        switch (kind) {
          case "all" -> "";
          case "channels", "scans" -> "&filter=_selector";
          default -> "&filter=_doc_ids";
        };
    String body = body(listener);
    String head =
        "POST /%s/_changes?feed=continuous&since=now&heartbeat=60000%s HTTP/1.1\r\nHost: localhost\r\n"
                .formatted(database, filter)
            + "Content-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n";
    SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
    channel.write(ByteBuffer.wrap((head + body).getBytes(StandardCharsets.UTF_8)));
    ByteBuffer answer = ByteBuffer.allocate(1 << 12);
    channel.read(answer);
    String status = new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
    if (!status.startsWith("HTTP/1.1 200")) {
      throw new IOException(status);
    }
    channel.configureBlocking(false);
    channel.register(selector, SelectionKey.OP_READ, new StringBuilder());
  }

  private void read(Selector selector) {
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    try {
      while (true) {
        selector.select();
        long now = System.nanoTime();
        for (SelectionKey key : selector.selectedKeys()) {
          buffer.clear();
          if (((SocketChannel) key.channel()).read(buffer) < 0) {
            throw new IOException("A feed has ended.");
          }
          StringBuilder text = (StringBuilder) key.attachment();
          text.append(new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8));
          take(text, now);
        }
        selector.selectedKeys().clear();
      }
    } catch (IOException e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  private synchronized void take(StringBuilder text, long now) {
    int lineEnd = text.lastIndexOf("\n");
    if (lineEnd < 0) {
      return;
    }
    Matcher rows = ID.matcher(text.substring(0, lineEnd));
    while (rows.find()) {
      latencies[arrived++] = now - begun.get(Integer.parseInt(rows.group(2)));
    }
    text.delete(0, lineEnd + 1);
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
