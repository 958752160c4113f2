import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/**
 * Opens continuous feeds with different filters on one database, writes documents, and measures how
 * long a row takes to its listener, and the CPU time that the server spends on it.
 *
 * <pre>
 * javac -d target/load-tests load-tests/{FilteredFeeds,FeedSockets,LoadedServer}.java
 * java -cp target/load-tests FilteredFeeds PORT PID KINDS LISTENERS WRITES_A_SECOND SECONDS
 * </pre>
 *
 * KINDS, separated by commas, are measured in sequence. {@code all}: everybody sees everything;
 * {@code same}: everybody has the same {@code doc_ids}; {@code ids}: each has doc_ids of its own;
 * {@code channels}: each has a selector <code>{"channel": X}</code> of its own; {@code scans}: each
 * has one that no index by value can find; {@code stored}: each has a channel of its own of one stored
 * feed; {@code functions}: they have ten different filters of a design document, a tenth of them each.
 *
 * <p>A row's time counts from the start of its write and includes the sync. So the writes' own
 * times are printed beside it, and the time from a write's answer to its row.
 */
public final class FilteredFeeds {
  private static final Pattern ID = Pattern.compile("\"id\":\"(\\d+)-(\\d+)\"");

  private static final String DESIGN =
      "{\"filters\":{\"tenth\":"
          + "\"function(doc, req) { return doc.channel && doc.channel.slice(-1) === req.query.k; }\"}}";

  /** Sent at full speed, so that the server has compiled the measured code. */
  private static final int WARM_UP_WRITES = 10_000;

  private static final long SETTLE_NANOS = 2_000_000_000L;

  private final int port;
  private final String kind;
  private final int listeners;
  private final int writes;
  private final String database;
  private final AtomicLongArray begun;
  private final AtomicLongArray answered;

  /** Times of the measured writes' rows, from the write's start and from its answer. */
  private final LongStream.Builder fromWrite = LongStream.builder();

  private final LongStream.Builder fromAnswer = LongStream.builder();

  private FilteredFeeds(int port, String kind, int listeners, int writes) {
    this.port = port;
    this.kind = kind;
    this.listeners = listeners;
    this.writes = writes;
    this.database = "filtered-" + kind + "-" + System.currentTimeMillis();
    this.begun = new AtomicLongArray(writes);
    this.answered = new AtomicLongArray(writes);
  }

  public static void main(String[] args) throws IOException {
    int port = Integer.parseInt(args[0]);
    int rate = Integer.parseInt(args[4]);
    int seconds = Integer.parseInt(args[5]);
    try (LoadedServer server = new LoadedServer(port, Long.parseLong(args[1]))) {
      double first = 0;
      for (String kind : args[2].split(",")) {
        int listeners = Integer.parseInt(args[3]);
        double cores =
            new FilteredFeeds(port, kind, listeners, WARM_UP_WRITES + rate * seconds)
                .run(server, rate, seconds);
        first = first == 0 ? cores : first;
        System.out.printf(", %.2f cores (%.1f times the first)%n", cores, cores / first);
      }
    }
  }

  /** Returns the number of cores that the server kept busy. */
  private double run(LoadedServer server, int rate, int seconds) throws IOException {
    server.send("PUT", "/" + database, "");
    if (kind.equals("stored")) {
      server.send("PUT", "/" + database + "/_feeds/stored", "{\"channels\":\"channel\"}");
    }
    if (kind.equals("functions")) {
      server.send("PUT", "/" + database + "/_design/d", DESIGN);
    }
    try (FeedSockets feeds = new FeedSockets()) {
      for (int i = 0; i < listeners; i++) {
        StringBuilder text = new StringBuilder();
        feeds.open(port, feed(i), (bytes, nanos) -> take(text, bytes, nanos));
      }
      feeds.start();
      write(server, 0, WARM_UP_WRITES, 0);
      LockSupport.parkNanos(SETTLE_NANOS);
      double before = server.cpuSeconds();
      write(server, WARM_UP_WRITES, writes, 1_000_000_000L / rate);
      LockSupport.parkNanos(SETTLE_NANOS);
      double cores = (server.cpuSeconds() - before) / seconds;
      print(rate);
      return cores;
    }
  }

  private void write(LoadedServer server, int from, int to, long pauseNanos) throws IOException {
    long due = System.nanoTime();
    for (int n = from; n < to; n++) {
      int who = n % listeners;
      String json = "{\"channel\":\"c" + who + "\",\"n\":1}";
      begun.set(n, System.nanoTime());
      server.send("PUT", "/" + database + "/" + who + "-" + n, json);
      answered.set(n, System.nanoTime());
      due += pauseNanos;
      LockSupport.parkNanos(Math.max(0, due - System.nanoTime()));
    }
  }

  private byte[] feed(int listener) {
    String filter =
        switch (kind) {
          case "all" -> "";
          case "channels", "scans" -> "&filter=_selector";
          case "stored" -> "&filter=_feed/stored";
          case "functions" -> "&filter=d/tenth&k=" + listener % 10;
          default -> "&filter=_doc_ids";
        };
    String path = "/" + database + "/_changes?feed=continuous&since=now&heartbeat=60000" + filter;
    return LoadedServer.request("POST", path, body(listener));
  }

  private String body(int listener) {
    return switch (kind) {
      case "ids" -> ids(listener);
      case "same" -> ids(0);
      case "channels" -> "{\"selector\":{\"channel\":\"c" + listener + "\"}}";
      case "scans" -> "{\"selector\":{\"channel\":{\"$regex\":\"^c" + listener + "$\"}}}";
      case "stored" -> "{\"channels\":[\"c" + listener + "\"]}";
      case "all", "functions" -> "{}";
      default -> throw new IllegalArgumentException(kind);
    };
  }

  /** Returns the ids of all documents that are written for a listener. */
  private String ids(int listener) {
    StringBuilder ids = new StringBuilder("{\"doc_ids\":[\"none\"");
    for (int n = listener; n < writes; n += listeners) {
      ids.append(",\"").append(listener).append('-').append(n).append('"');
    }
    return ids.append("]}").toString();
  }

  private void take(StringBuilder text, ByteBuffer bytes, long nanos) {
    text.append(StandardCharsets.UTF_8.decode(bytes));
    int lineEnd = text.lastIndexOf("\n");
    if (lineEnd < 0) {
      return;
    }
    Matcher rows = ID.matcher(text.substring(0, lineEnd));
    while (rows.find()) {
      arrived(Integer.parseInt(rows.group(2)), nanos);
    }
    text.delete(0, lineEnd + 1);
  }

  /** A row may arrive before the answer. */
  private synchronized void arrived(int n, long nanos) {
    if (n >= WARM_UP_WRITES) {
      fromWrite.add(nanos - begun.get(n));
      long answer = answered.get(n);
      fromAnswer.add(answer == 0 ? 0 : Math.max(0, nanos - answer));
    }
  }

  private synchronized void print(int rate) {
    long[] answers =
        LongStream.range(WARM_UP_WRITES, writes)
            .map(n -> answered.get((int) n) - begun.get((int) n))
            .toArray();
    long[] rows = fromWrite.build().toArray();
    System.out.printf(
        "%-8s %5d listeners, %d writes/s: %d rows, %s; writes %s; rows behind the answer %s",
        kind,
        listeners,
        rate,
        rows.length,
        percentiles(rows),
        percentiles(answers),
        percentiles(fromAnswer.build().toArray()));
  }

  private static String percentiles(long[] nanos) {
    Arrays.sort(nanos);
    return String.format("p50 %.1f ms, p99 %.1f ms", at(nanos, 0.5), at(nanos, 0.99));
  }

  private static double at(long[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) ((sorted.length - 1) * share)] / 1e6;
  }
}
