import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Opens listeners on changes feeds, writes documents, and measures how long rows take from a
 * write's answer to each listener. One thread reads all sockets, so that it takes little of the
 * cores that it shares with the server.
 *
 * <pre>
 * java load-tests/FeedLoad.java idle PORT PID LISTENERS
 * java load-tests/FeedLoad.java flow PORT FORM LISTENERS DATABASES WRITES_A_SECOND SECONDS [WRITE_PORT]
 * </pre>
 *
 * FORM is {@code websocket}, {@code eventsource} or {@code continuous}.
 */
public final class FeedLoad {
  private static final String HOST = "127.0.0.1";

  /** Long enough to ping each socket once, and for the server to compile that code. */
  private static final long SETTLE_MILLIS = 60_000;

  /** Long enough to ping each socket once. */
  private static final int IDLE_SECONDS = 55;

  private static final int WRITES_TO_IDLE = 7;

  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private FeedLoad() {}

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[1]);
    if (args[0].equals("idle")) {
      idle(port, Long.parseLong(args[2]), Integer.parseInt(args[3]));
    } else {
      int writePort = args.length > 7 ? Integer.parseInt(args[7]) : port;
      flow(
          port,
          writePort,
          args[2],
          Integer.parseInt(args[3]),
          Integer.parseInt(args[4]),
          Integer.parseInt(args[5]),
          Integer.parseInt(args[6]));
    }
  }

  /** Measures the cost of idle listeners, and how soon one write reaches all of them. */
  private static void idle(int port, long server, int count) throws Exception {
    try (Writer writer = new Writer(port);
        Listeners listeners = new Listeners()) {
      String database = "idle-" + System.currentTimeMillis();
      writer.create(database);
      writer.write(database, 0);
      long before = residentKilobytes(server);
      listeners.open(port, "websocket", List.of(database), count);
      long after = residentKilobytes(server);
      Thread.sleep(SETTLE_MILLIS);
      double core = shareOfCore(server, IDLE_SECONDS);
      long[] sinceStart = new long[WRITES_TO_IDLE];
      long[] sinceAnswer = new long[WRITES_TO_IDLE];
      for (int i = 0; i < WRITES_TO_IDLE; i++) {
        Thread.sleep(1_000);
        long start = System.nanoTime();
        long answered = writer.write(database, i + 1);
        listeners.await((long) count * (i + 1));
        sinceStart[i] = listeners.lastArrival() - start;
        sinceAnswer[i] = listeners.lastArrival() - answered;
      }
      Arrays.sort(sinceStart);
      Arrays.sort(sinceAnswer);
      System.out.printf(
          "%d listeners: %.1f kB of RSS each, %.1f %% of a core when idle, one write reaches all in"
              + " %.0f ms after its answer (%.0f ms after its start), medians of %d%n",
          count,
          (double) (after - before) / count,
          100 * core,
          millis(sinceAnswer[WRITES_TO_IDLE / 2]),
          millis(sinceStart[WRITES_TO_IDLE / 2]),
          WRITES_TO_IDLE);
    }
  }

  private static long residentKilobytes(long process) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + process + "/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IOException("No VmRSS");
  }

  private static double shareOfCore(long process, int seconds) throws Exception {
    long before = ticks(process);
    Thread.sleep(seconds * 1000L);
    return (ticks(process) - before) / 100.0 / seconds;
  }

  private static long ticks(long process) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }

  /** Writes at a fixed rate, spread over the databases, each with its share of the listeners. */
  private static void flow(
      int port, int writePort, String form, int count, int databases, int rate, int seconds)
      throws Exception {
    try (Writer writer = new Writer(writePort);
        Listeners listeners = new Listeners()) {
      String run = "flow-" + System.currentTimeMillis() + "-";
      List<String> names = IntStream.range(0, databases).mapToObj(i -> run + i).toList();
      for (String name : names) {
        writer.create(name);
      }
      listeners.open(port, form, names, count);
      int writes = rate * seconds;
      long[] answered = new long[writes];
      long start = System.nanoTime();
      for (int i = 0; i < writes; i++) {
        pause(start + i * 1_000_000_000L / rate);
        answered[i] = writer.write(names.get(i % databases), i);
      }
      long wrote = System.nanoTime();
      long due = (long) writes * count / databases;
      listeners.await(due);
      report(form, listeners, answered, due, wrote - start, wrote);
    }
  }

  private static void pause(long until) {
    for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private static void report(
      String form, Listeners listeners, long[] answered, long due, long took, long wrote) {
    long[] delays = listeners.delays(answered);
    Arrays.sort(delays);
    System.out.printf(
        "%s: %d of %d rows, %.0f writes/s, %.0f rows/s; answer to arrival p50 %.1f ms, p99 %.1f ms,"
            + " max %.1f ms; last row %.0f ms after the last answer%n",
        form,
        delays.length,
        due,
        answered.length * 1e9 / took,
        delays.length * 1e9 / took,
        millis(delays[delays.length / 2]),
        millis(delays[(int) (delays.length * 0.99)]),
        millis(delays[delays.length - 1]),
        millis(Math.max(0, listeners.lastArrival() - wrote)));
  }

  private static double millis(long nanos) {
    return nanos / 1e6;
  }

  /** Sends requests in sequence on one keep-alive connection. */
  private static final class Writer implements AutoCloseable {
    private final SocketChannel socket;
    private final ByteBuffer answer = ByteBuffer.allocate(64 << 10);

    Writer(int port) throws IOException {
      socket = SocketChannel.open(new InetSocketAddress(HOST, port));
      socket.socket().setTcpNoDelay(true);
    }

    void create(String database) throws IOException {
      request("PUT /" + database, "");
    }

    /** Puts the document {@code w} with this number, and returns the time of the answer. */
    long write(String database, int number) throws IOException {
      return request("PUT /" + database + "/w" + number, "{\"number\":" + number + "}");
    }

    private long request(String line, String body) throws IOException {
      String text =
          line
              + " HTTP/1.1\r\nHost: "
              + HOST
              + "\r\nContent-Type: application/json\r\nContent-Length: "
              + body.length()
              + "\r\n\r\n"
              + body;
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
      while (bytes.hasRemaining()) {
        socket.write(bytes);
      }
      answer.clear();
      String got = "";
      while (!isWhole(got)) {
        if (socket.read(answer) < 0) {
          throw new IOException("The server closed the writer's connection: " + got);
        }
        got = new String(answer.array(), 0, answer.position(), StandardCharsets.ISO_8859_1);
      }
      long time = System.nanoTime();
      if (!got.startsWith("HTTP/1.1 2")) {
        throw new IOException(got);
      }
      return time;
    }

    private static boolean isWhole(String answer) {
      int end = answer.indexOf("\r\n\r\n");
      if (end < 0) {
        return false;
      }
      String head = answer.substring(0, end).toLowerCase(java.util.Locale.ROOT);
      int at = head.indexOf("content-length:");
      if (at < 0) {
        return answer.endsWith("0\r\n\r\n");
      }
      String length = head.substring(at + 15).split("\r\n")[0].trim();
      return answer.length() >= end + 4 + Integer.parseInt(length);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** All listening sockets, and the time at which each row arrived. */
  private static final class Listeners implements AutoCloseable {
    private final Selector selector = Selector.open();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(256 << 10);
    private final Thread reader = new Thread(this::readAll, "listeners");
    private int[] numbers = new int[1 << 20];
    private long[] times = new long[1 << 20];
    private volatile long arrivals;
    private volatile int ready;
    private volatile boolean closed;
    private volatile IOException failure;

    Listeners() throws IOException {
      reader.setDaemon(true);
    }

    /** Returns when every listener has its feed's head. */
    void open(int port, String form, List<String> databases, int count) throws Exception {
      reader.start();
      for (int i = 0; i < count; i++) {
        SocketChannel socket = SocketChannel.open(new InetSocketAddress(HOST, port));
        byte[] request = request(form, databases.get(i % databases.size()));
        socket.write(ByteBuffer.wrap(request));
        socket.configureBlocking(false);
        Listener listener = new Listener(form.equals("websocket"));
        socket.register(selector, SelectionKey.OP_READ, listener);
        selector.wakeup();
        while (i - ready > 100) {
          check();
          LockSupport.parkNanos(100_000);
        }
      }
      long start = System.nanoTime();
      while (ready < count) {
        check();
        if (System.nanoTime() - start > PATIENCE_NANOS) {
          throw new IOException(ready + " of " + count + " feeds opened");
        }
        LockSupport.parkNanos(100_000);
      }
    }

    private static byte[] request(String form, String database) {
      // Some servers send a feed's head only with its first heartbeat.
      String feed =
          form.equals("websocket") ? "" : "&heartbeat=2000&feed=" + form;
      String upgrade =
          form.equals("websocket")
              ? "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
              : "";
      String text =
          "GET /"
              + database
              + "/_changes?since=now"
              + feed
              + " HTTP/1.1\r\nHost: "
              + HOST
              + "\r\n"
              + upgrade
              + "\r\n";
      return text.getBytes(StandardCharsets.US_ASCII);
    }

    private void check() throws IOException {
      if (failure != null) {
        throw failure;
      }
    }

    private void readAll() {
      try {
        while (!closed) {
          selector.select(this::read, 10);
        }
      } catch (IOException e) {
        failure = e;
      } catch (UncheckedIOException e) {
        failure = e.getCause();
      }
    }

    private void read(SelectionKey key) {
      SocketChannel socket = (SocketChannel) key.channel();
      try {
        buffer.clear();
        if (socket.read(buffer) < 0) {
          throw new IOException("The server closed a feed");
        }
        ((Listener) key.attachment()).take(buffer.flip(), this, socket);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void opened() {
      ready++;
    }

    void arrived(int number) {
      int at = (int) arrivals;
      if (at == numbers.length) {
        numbers = Arrays.copyOf(numbers, 2 * at);
        times = Arrays.copyOf(times, 2 * at);
      }
      numbers[at] = number;
      times[at] = System.nanoTime();
      arrivals = at + 1;
    }

    void await(long count) throws IOException {
      long start = System.nanoTime();
      while (arrivals < count && System.nanoTime() - start < PATIENCE_NANOS) {
        check();
        LockSupport.parkNanos(200_000);
      }
      if (arrivals != count) {
        throw new IOException(arrivals + " rows came, " + count + " were due");
      }
    }

    long lastArrival() {
      return times[(int) arrivals - 1];
    }

    long[] delays(long[] answered) {
      long[] delays = new long[(int) arrivals];
      for (int i = 0; i < delays.length; i++) {
        delays[i] = Math.max(0, times[i] - answered[numbers[i]]);
      }
      return delays;
    }

    @Override
    public void close() throws Exception {
      closed = true;
      reader.join();
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
      selector.close();
    }
  }

  /** Finds {@code "id":"w<number>"} in the bytes of one socket, however they are split. */
  private static final class Listener {
    private static final byte[] HEAD_END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] MARK = "\"id\":\"w".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] PONG = {(byte) 0x8a, (byte) 0x80, 0, 0, 0, 0};
    private static final int PING = 0x89;

    private final boolean framed;
    private boolean headRead;
    private int matched;
    private int number = -1;
    private int frameHead;
    private int opcode;
    private long payload;
    private long length;

    Listener(boolean framed) {
      this.framed = framed;
    }

    void take(ByteBuffer bytes, Listeners listeners, SocketChannel socket) throws IOException {
      while (bytes.hasRemaining()) {
        int octet = bytes.get() & 0xff;
        if (!headRead) {
          head(octet, listeners);
        } else if (framed && payload == 0) {
          frame(octet, socket);
        } else {
          payload--;
          text(octet, listeners);
        }
      }
    }

    private void head(int octet, Listeners listeners) {
      matched = octet == HEAD_END[matched] ? matched + 1 : octet == '\r' ? 1 : 0;
      if (matched == HEAD_END.length) {
        matched = 0;
        headRead = true;
        listeners.opened();
      }
    }

    /** A server's frames are not masked. */
    private void frame(int octet, SocketChannel socket) throws IOException {
      if (frameHead == 0) {
        opcode = octet;
        frameHead = 1;
      } else if (frameHead == 1 && octet >= 126) {
        frameHead = octet == 126 ? 4 : 10;
        length = 0;
      } else if (frameHead == 1) {
        begin(octet, socket);
      } else {
        length = length << 8 | octet;
        frameHead--;
        if (frameHead == 2) {
          begin(length, socket);
        }
      }
    }

    private void begin(long bytes, SocketChannel socket) throws IOException {
      frameHead = 0;
      payload = bytes;
      if (opcode == PING) {
        socket.write(ByteBuffer.wrap(PONG));
      }
    }

    private void text(int octet, Listeners listeners) {
      if (number >= 0) {
        if (octet >= '0' && octet <= '9') {
          number = 10 * number + octet - '0';
        } else {
          listeners.arrived(number);
          number = -1;
          matched = 0;
        }
      } else if (octet == MARK[matched]) {
        matched++;
        if (matched == MARK.length) {
          number = 0;
          matched = 0;
        }
      } else {
        matched = octet == MARK[0] ? 1 : 0;
      }
    }
  }
}
