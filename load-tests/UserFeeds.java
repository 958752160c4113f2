import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * Compares live feeds of users with those of an admin: as many databases, each with one user as its
 * member and one listener. Then a role is taken from a tenth of the users at once.
 *
 * <pre>
 * java load-tests/UserFeeds.java PORT PID LISTENERS
 * </pre>
 *
 * The server has an admin {@code admin} with the password {@code secret}.
 */
public final class UserFeeds {
  private static final String ADMIN = basic("admin", "secret");
  private static final String PASSWORD = "apple";
  private static final int ITERATIONS = 1_000;
  private static final String SALT = "5a17000000000000000000000000a17e";

  /** One user in so many has a role that is taken away. */
  private static final int LEAVING = 10;

  private static final int MAKERS = 32;
  private static final int USERS_AT_ONCE = 500;
  private static final int SETTLE_SECONDS = 10;
  private static final int IDLE_SECONDS = 20;
  private static final int WRITES = 1_000;
  private static final long WRITE_NANOS = 10_000_000L;
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final int port;
  private final long server;
  private final int count;

  private UserFeeds(int port, long server, int count) {
    this.port = port;
    this.server = server;
    this.count = count;
  }

  public static void main(String[] args) throws Exception {
    new UserFeeds(Integer.parseInt(args[0]), Long.parseLong(args[1]), Integer.parseInt(args[2]))
        .run();
  }

  private void run() throws Exception {
    makeUsers();
    makeDatabases();
    // The first listeners make the JVM compile, so they do not count.
    measure(i -> ADMIN, count / 10, false);
    try (Feeds admins = measure(i -> ADMIN, count, true)) {
      System.out.println(admins.report("an admin's"));
    }
    try (Feeds users = measure(i -> basic(name(i), PASSWORD), count, true)) {
      System.out.println(users.report("users'"));
      revoke(users);
    }
  }

  private static String basic(String name, String password) {
    byte[] pair = (name + ':' + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(pair);
  }

  private static String name(int user) {
    return "user" + user;
  }

  /** Users come with their hashes, as those of another server do. */
  private void makeUsers() throws Exception {
    PBEKeySpec key =
        new PBEKeySpec(
            PASSWORD.toCharArray(), SALT.getBytes(StandardCharsets.UTF_8), ITERATIONS, 256);
    byte[] derived =
        SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(key).getEncoded();
    String hash = HexFormat.of().formatHex(derived);
    try (Client client = new Client(port)) {
      client.send("PUT", "/_users", "");
      for (int from = 0; from < count; from += USERS_AT_ONCE) {
        client.send(
            "POST",
            "/_users/_bulk_docs",
            IntStream.range(from, Math.min(count, from + USERS_AT_ONCE))
                .mapToObj(user -> document(user, hash, "", role(user)))
                .collect(Collectors.joining(",", "{\"docs\":[", "]}")));
      }
    }
  }

  private static String role(int user) {
    return user % LEAVING == 0 ? "\"leaving\"" : "";
  }

  private static String document(int user, String hash, String rev, String roles) {
    return "{\"_id\":\"org.couchdb.user:%1$s\"%5$s,\"name\":\"%1$s\",\"type\":\"user\",\"roles\":[%2$s],\"password_scheme\":\"pbkdf2\",\"pbkdf2_prf\":\"sha256\",\"iterations\":%6$d,\"salt\":\"%3$s\",\"derived_key\":\"%4$s\"}"
        .formatted(name(user), roles, SALT, hash, rev, ITERATIONS);
  }

  private void makeDatabases() throws Exception {
    AtomicInteger next = new AtomicInteger();
    ExecutorService makers = Executors.newFixedThreadPool(MAKERS);
    List<Future<?>> done =
        IntStream.range(0, MAKERS)
            .<Future<?>>mapToObj(maker -> makers.submit(() -> makeDatabases(next)))
            .toList();
    for (Future<?> each : done) {
      each.get();
    }
    makers.shutdown();
  }

  private Void makeDatabases(AtomicInteger next) throws IOException {
    try (Client client = new Client(port)) {
      for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
        String members =
            i % LEAVING == 0 ? "\"roles\":[\"leaving\"]" : "\"names\":[\"" + name(i) + "\"]";
        client.send("PUT", "/db" + i, "");
        client.send("PUT", "/db" + i + "/_security", "{\"members\":{" + members + "}}");
      }
    }
    return null;
  }

  /** Whose feed the one on a database is, as a header's value. */
  @FunctionalInterface
  private interface Who {
    String of(int database);
  }

  private Feeds measure(Who who, int listeners, boolean counts) throws Exception {
    long before = liveBytes();
    Feeds feeds = new Feeds();
    for (int i = 0; i < listeners; i++) {
      feeds.open(port, i, who.of(i));
    }
    feeds.start();
    if (counts) {
      Thread.sleep(SETTLE_SECONDS * 1_000L);
      feeds.core = shareOfCore();
      feeds.bytes = (liveBytes() - before) / listeners;
    }
    write(feeds, listeners);
    if (!counts) {
      feeds.close();
    }
    return feeds;
  }

  private void write(Feeds feeds, int databases) throws Exception {
    feeds.sent = new long[WRITES];
    feeds.delays = new long[WRITES];
    Random random = new Random(1);
    try (Client client = new Client(port)) {
      long start = System.nanoTime();
      for (int i = 0; i < WRITES; i++) {
        for (long left = start + i * WRITE_NANOS - System.nanoTime();
            left > 0;
            left = start + i * WRITE_NANOS - System.nanoTime()) {
          LockSupport.parkNanos(left);
        }
        int database = random.nextInt(databases);
        feeds.sent[i] = System.nanoTime();
        client.send("POST", "/db" + database, "{\"_id\":\"" + System.nanoTime() + "w" + i + "w\"}");
      }
    }
    feeds.await("rows", () -> feeds.arrived == WRITES);
  }

  /** Takes the role away with one request, and waits until its last feed has ended. */
  private void revoke(Feeds feeds) throws Exception {
    try (Client client = new Client(port)) {
      String keys =
          IntStream.range(0, count)
              .filter(user -> user % LEAVING == 0)
              .mapToObj(user -> "\"org.couchdb.user:" + name(user) + '"')
              .collect(Collectors.joining(",", "{\"keys\":[", "]}"));
      String docs = client.send("POST", "/_users/_all_docs?include_docs=true", keys);
      Matcher found = Pattern.compile("\"doc\":(\\{.*\\})\\}").matcher(docs);
      StringBuilder without = new StringBuilder("{\"docs\":[");
      int leaving = 0;
      for (; found.find(); leaving++) {
        without.append(leaving == 0 ? "" : ",").append(found.group(1).replace("\"leaving\"", ""));
      }
      int expected = leaving;
      long start = System.nanoTime();
      client.send("POST", "/_users/_bulk_docs", without.append("]}").toString());
      long answered = System.nanoTime();
      feeds.await("ends", () -> feeds.ended == expected);
      Thread.sleep(2_000);
      System.out.printf(
          "a role of %d users is taken away: the last of their feeds ends %.0f ms after the request"
              + " was sent, %.0f ms after its answer; %d of the other %d go on%n",
          leaving,
          (feeds.lastEnd - start) / 1e6,
          (feeds.lastEnd - answered) / 1e6,
          count - feeds.ended,
          count - leaving);
    }
  }

  /** Returns what the server's heap holds after a collection. */
  private long liveBytes() throws Exception {
    Process jcmd =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(server),
                "GC.class_histogram")
            .start();
    String text = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Matcher total = Pattern.compile("Total\\s+\\d+\\s+(\\d+)").matcher(text);
    if (!total.find()) {
      throw new IOException(text);
    }
    return Long.parseLong(total.group(1));
  }

  private double shareOfCore() throws Exception {
    long before = ticks();
    Thread.sleep(IDLE_SECONDS * 1_000L);
    return (ticks() - before) / 100.0 / IDLE_SECONDS;
  }

  private long ticks() throws IOException {
    String stat = Files.readString(Path.of("/proc/" + server + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }

  /** The listening sockets, which one thread reads. */
  private static final class Feeds implements AutoCloseable {
    private static final Pattern ROW = Pattern.compile("\"id\":\"\\d+w(\\d+)w\"");

    private final Selector selector = Selector.open();
    private final ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    private long[] sent;
    private long[] delays;
    private double core;
    private long bytes;
    private volatile int arrived;
    private volatile int ended;
    private volatile long lastEnd;

    Feeds() throws IOException {}

    /** Returns when the head of the answer has arrived. */
    void open(int port, int database, String authorization) throws IOException {
      SocketChannel channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      String request =
          "GET /db"
              + database
              + "/_changes?feed=continuous&since=now&heartbeat=60000 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
              + "Authorization: "
              + authorization
              + "\r\n\r\n";
      channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
      ByteBuffer answer = ByteBuffer.allocate(1 << 12);
      channel.read(answer);
      String head = new String(answer.array(), 0, answer.position(), StandardCharsets.US_ASCII);
      if (!head.startsWith("HTTP/1.1 200")) {
        throw new IOException(head);
      }
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ);
    }

    void start() {
      Thread reader = new Thread(this::read, "feeds");
      reader.setDaemon(true);
      reader.start();
    }

    private void read() {
      while (selector.isOpen()) {
        try {
          selector.select(this::read);
        } catch (IOException | RuntimeException over) {
          return;
        }
      }
    }

    private void read(SelectionKey key) {
      try {
        buffer.clear();
        int length = ((SocketChannel) key.channel()).read(buffer);
        long now = System.nanoTime();
        String text =
            new String(buffer.array(), 0, Math.max(0, length), StandardCharsets.US_ASCII);
        for (Matcher row = ROW.matcher(text); row.find(); arrived++) {
          int number = Integer.parseInt(row.group(1));
          delays[number] = now - sent[number];
        }
        // The answer of a feed that ends is complete; its connection stays.
        if (length < 0 || text.contains("\"error\":")) {
          lastEnd = now;
          ended++;
          key.cancel();
          key.channel().close();
        }
      } catch (IOException broken) {
        ended++;
        key.cancel();
      }
    }

    void await(String what, java.util.function.BooleanSupplier done) throws IOException {
      long start = System.nanoTime();
      while (!done.getAsBoolean()) {
        if (System.nanoTime() - start > PATIENCE_NANOS) {
          throw new IOException(what + ": " + arrived + " rows, " + ended + " ends");
        }
        LockSupport.parkNanos(1_000_000);
      }
    }

    String report(String whose) {
      Arrays.sort(delays);
      return "%d feeds, %s: %.1f %% of a core at rest, %.1f kB of heap each; a write's start to its row p50 %.1f ms, p99 %.1f ms"
          .formatted(
              selector.keys().size(),
              whose,
              100 * core,
              bytes / 1e3,
              delays[WRITES / 2] / 1e6,
              delays[WRITES * 99 / 100] / 1e6);
    }

    @Override
    public void close() throws IOException {
      for (SelectionKey key : List.copyOf(selector.keys())) {
        key.channel().close();
      }
      selector.close();
      LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(3));
    }
  }

  /** Sends an admin's requests, one after the other. */
  private static final class Client implements AutoCloseable {
    private final Socket socket = new Socket();
    private final InputStream in;

    Client(int port) throws IOException {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket.setTcpNoDelay(true);
      in = new java.io.BufferedInputStream(socket.getInputStream());
    }

    String send(String method, String path, String body) throws IOException {
      byte[] content = body.getBytes(StandardCharsets.US_ASCII);
      String head =
          method
              + " "
              + path
              + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: "
              + ADMIN
              + "\r\nContent-Length: "
              + content.length
              + "\r\n\r\n";
      ByteArrayOutputStream request = new ByteArrayOutputStream();
      request.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
      request.writeBytes(content);
      socket.getOutputStream().write(request.toByteArray());
      String status = line();
      int length = -1;
      for (String line = line(); !line.isEmpty(); line = line()) {
        String lower = line.toLowerCase(java.util.Locale.ROOT);
        if (lower.startsWith("content-length:")) {
          length = Integer.parseInt(lower.substring(15).strip());
        }
      }
      String answer = length >= 0 ? text(length) : chunks();
      if (!status.startsWith("HTTP/1.1 2")) {
        throw new IOException(method + " " + path + ": " + status + " " + answer);
      }
      return answer;
    }

    private String chunks() throws IOException {
      StringBuilder body = new StringBuilder();
      for (int length = Integer.parseInt(line(), 16);
          length > 0;
          length = Integer.parseInt(line(), 16)) {
        body.append(text(length));
        line();
      }
      line();
      return body.toString();
    }

    private String text(int length) throws IOException {
      return new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
      StringBuilder line = new StringBuilder();
      for (int octet = in.read(); octet != '\n'; octet = in.read()) {
        if (octet < 0) {
          throw new IOException("The server closed the connection");
        }
        line.append((char) octet);
      }
      return line.toString().strip();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
