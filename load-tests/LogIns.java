import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * Measures good log-ins at rest and beside wrong ones: a document read with a name and a password,
 * and a session begun with them. Both go over a connection of their own, at a steady rate.
 *
 * <pre>
 * java load-tests/LogIns.java PORT PATH NAME PASSWORD WRONG WRONG_A_SECOND
 * </pre>
 *
 * A third of the wrong log-ins has the good one's name, a third has a name of its own each, and a
 * third begins sessions.
 */
public final class LogIns {
  private static final int ATTACKERS = 16;

  /** A name is locked for the address that guesses, as in CouchDB. */
  private static final String GOOD = "127.0.0.1";

  private static final String BAD = "127.0.0.2";

  private static final long PAUSE_NANOS = 10_000_000L;
  private static final int WARM_UP = 3_000;
  private static final long REST_NANOS = 15_000_000_000L;
  private static final double PERCENTILE = 0.99;
  private static final double NANOS_PER_MILLI = 1e6;

  private final int port;
  private final String path;
  private final String name;
  private final String password;

  private LogIns(String[] args) {
    this.port = Integer.parseInt(args[0]);
    this.path = args[1];
    this.name = args[2];
    this.password = args[3];
  }

  public static void main(String[] args) throws Exception {
    new LogIns(args).run(Integer.parseInt(args[4]), Integer.parseInt(args[5]));
  }

  private void run(int wrong, int aSecond) throws Exception {
    byte[] read = get(name, password);
    byte[] session = session(name, password);
    try (Connection warm = new Connection(port, GOOD)) {
      for (int i = 0; i < WARM_UP; i++) {
        expect(200, warm.status(read));
      }
      expect(200, warm.status(session));
    }
    long until = System.nanoTime() + REST_NANOS;
    Good restReads = new Good(read, until);
    Good restSessions = new Good(session, until);
    restReads.join();
    restSessions.join();

    AtomicLong left = new AtomicLong(wrong);
    Attack[] attacks = new Attack[ATTACKERS];
    long begin = System.nanoTime();
    for (int i = 0; i < ATTACKERS; i++) {
      attacks[i] = new Attack(left, begin, wrong, aSecond);
    }
    Good reads = new Good(read, Long.MAX_VALUE);
    Good sessions = new Good(session, Long.MAX_VALUE);
    TreeMap<Integer, Long> statuses = new TreeMap<>();
    for (Attack attack : attacks) {
      attack.join();
      attack.statuses.forEach((status, count) -> statuses.merge(status, count, Long::sum));
    }
    reads.end();
    sessions.end();
    System.out.printf(
        "%d wrong log-ins at %.0f a second: %s%n",
        wrong, wrong / ((System.nanoTime() - begin) / 1e9), statuses);
    print("reads with a password", restReads, reads);
    print("sessions begun", restSessions, sessions);
  }

  private static void print(String what, Good rest, Good beside) {
    double atRest = rest.p99();
    double then = beside.p99();
    System.out.printf(
        "%s: p99 %.2f ms at rest, %.2f ms beside them, %.2f times (%d and %d requests, %d failed)%n",
        what, atRest, then, then / atRest, rest.count, beside.count, rest.failed + beside.failed);
  }

  private byte[] get(String user, String secret) {
    String credentials =
        Base64.getEncoder().encodeToString((user + ":" + secret).getBytes(StandardCharsets.UTF_8));
    return ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic " + credentials + "\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] session(String user, String secret) {
    String body = "name=" + user + "&password=" + secret;
    return ("POST /_session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            + "Content-Length: " + body.length() + "\r\n\r\n" + body)
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static void expect(int status, int got) {
    if (got != status) {
      throw new IllegalStateException("status " + got);
    }
  }

  /** Sends one request after the other at a steady rate. */
  private final class Good extends Thread {
    private final byte[] request;
    private final long[] nanos = new long[100_000];
    private volatile long until;
    private int count;
    private int failed;

    Good(byte[] request, long until) {
      this.request = request;
      this.until = until;
      start();
    }

    @Override
    public void run() {
      try (Connection connection = new Connection(port, GOOD)) {
        long next = System.nanoTime();
        while (System.nanoTime() < until && count < nanos.length) {
          LockSupport.parkNanos(next - System.nanoTime());
          long begin = Math.max(next, System.nanoTime());
          failed += connection.status(request) == 200 ? 0 : 1;
          nanos[count++] = System.nanoTime() - begin;
          next += PAUSE_NANOS;
        }
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    void end() throws InterruptedException {
      until = 0;
      join();
    }

    double p99() {
      long[] sorted = LongStream.of(Arrays.copyOf(nanos, count)).sorted().toArray();
      return sorted[(int) (sorted.length * PERCENTILE)] / NANOS_PER_MILLI;
    }
  }

  /** Sends its share of the wrong log-ins, on one connection for as long as the server keeps it. */
  private final class Attack extends Thread {
    private final TreeMap<Integer, Long> statuses = new TreeMap<>();
    private final AtomicLong left;
    private final long begin;
    private final long all;
    private final int aSecond;

    Attack(AtomicLong left, long begin, long all, int aSecond) {
      this.left = left;
      this.begin = begin;
      this.all = all;
      this.aSecond = aSecond;
      start();
    }

    @Override
    public void run() {
      for (long number = left.getAndDecrement(); number > 0; ) {
        try (Connection connection = new Connection(port, BAD)) {
          for (; number > 0; number = left.getAndDecrement()) {
            long due = begin + (all - number) * 1_000_000_000L / aSecond;
            LockSupport.parkNanos(due - System.nanoTime());
            statuses.merge(connection.status(wrong(number)), 1L, Long::sum);
          }
        } catch (IOException closed) {
          statuses.merge(0, 1L, Long::sum);
          number = left.getAndDecrement();
        }
      }
    }

    private byte[] wrong(long number) {
      return switch ((int) (number % 3)) {
        case 0 -> get(name, "wrong" + number);
        case 1 -> get("nobody" + number, "wrong");
        default -> session("nobody" + number, "wrong");
      };
    }
  }

  /** A connection that is kept open. */
  private static final class Connection implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    /**
     * @param address of loopback, from which the client comes
     */
    Connection(int port, String address) throws IOException {
      socket = new Socket(InetAddress.getByName("127.0.0.1"), port, InetAddress.getByName(address), 0);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
      out = socket.getOutputStream();
    }

    int status(byte[] request) throws IOException {
      out.write(request);
      int status = Integer.parseInt(line().split(" ")[1]);
      int length = 0;
      for (String line = line(); !line.isEmpty(); line = line()) {
        if (line.toLowerCase().startsWith("content-length:")) {
          length = Integer.parseInt(line.substring(15).trim());
        }
      }
      in.skipNBytes(length);
      return status;
    }

    private String line() throws IOException {
      StringBuilder line = new StringBuilder();
      for (int c = in.read(); c != '\n'; c = in.read()) {
        if (c < 0) {
          throw new IOException("closed");
        }
        if (c != '\r') {
          line.append((char) c);
        }
      }
      return line.toString();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
