package lectus.abuse;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.abuse.Line.Wire;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Connection.Frame;
import lectus.http.testing.Frames;
import lectus.http.testing.Request;
import lectus.store.testing.Await;

/**
 * A well-behaved client: it writes documents, reads each of them, and follows its database by a
 * continuous feed and a WebSocket. Everything that it does not get is a fault.
 */
public final class GoodClient implements AutoCloseable {
  private static final String DATABASE = "/good";
  private static final int PATIENCE_MILLIS = 60_000;
  private static final int PAUSE_MILLIS = 15;

  /** The number of requests after which it opens a new connection, like a new client. */
  private static final int ON_A_CONNECTION = 10;

  private static final int MAX_RETRIES = 200;

  /** Stands for the answer of a connection that was closed before it answered. */
  private static final Answer LATER = new Answer(503, "", Map.of("retry-after", List.of("0")), "");

  private final int port;
  private final Set<String> written = new ConcurrentSkipListSet<>();
  private final List<String> faults = new CopyOnWriteArrayList<>();
  private final Latencies latencies = new Latencies();
  private final List<Follower> followers;
  private final Thread thread;
  private volatile boolean ending;
  private Connection connection;
  private int asked;
  private int lost;
  private int refused;

  /** Whether it was refused without Retry-After; reported once. */
  private boolean undated;

  private GoodClient(int port) {
    this.port = port;
    followers = List.of(Follower.byFeed(port, DATABASE), Follower.bySocket(port, DATABASE));
    thread = new Thread(this::run, "good-client");
  }

  /** Creates its database and begins. */
  public static GoodClient start(int port) {
    int status = new Request(port, "PUT", DATABASE).send().status();
    if (status != 201 && status != 412) {
      throw new IllegalStateException("No database: " + status);
    }
    GoodClient client = new GoodClient(port);
    client.thread.start();
    return client;
  }

  public Latencies latencies() {
    return latencies;
  }

  /** Returns the documents whose writes were acknowledged. */
  public Set<String> written() {
    return new TreeSet<>(written);
  }

  /** Returns how often it was told to come later. */
  public int refused() {
    return refused;
  }

  /** Ends when the rows of all its writes have come, and returns what went wrong. */
  public List<String> finish() {
    ending = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    for (Follower follower : followers) {
      try {
        Await.until("it is told", () -> follower.isOver() || follower.unseen(written).isEmpty());
      } catch (AssertionError late) {
        faults.add(follower + " has not told of " + follower.unseen(written));
      }
      if (follower.isOver() && !follower.unseen(written).isEmpty()) {
        faults.add(follower + " ended: " + follower.end());
      }
    }
    return List.copyOf(faults);
  }

  private void run() {
    for (int i = 0; !ending; i++) {
      try {
        visit("doc" + i);
      } catch (Throwable failure) {
        faults.add("doc" + i + ": " + failure);
        disconnect();
      }
      LockSupport.parkNanos(PAUSE_MILLIS * 1_000_000L);
    }
  }

  private void visit(String id) {
    String content = "\"content\":\"of " + id + "\"";
    int before = lost;
    Answer put = ask(new Request(port, "PUT", DATABASE + "/" + id).json("{" + content + "}"));
    // The write whose answer was lost with its connection may have succeeded.
    boolean stored = put.status() == 201 || (put.status() == 409 && lost > before);
    if (!stored) {
      faults.add("PUT " + id + ": " + put);
      return;
    }
    written.add(id);
    Answer get = ask(new Request(port, "GET", DATABASE + "/" + id));
    if (get.status() != 200 || !get.body().contains(content)) {
      faults.add("GET " + id + ": " + get);
    }
  }

  /** Retries until the answer is not to come later. */
  private Answer ask(Request request) {
    for (int i = 0; i < MAX_RETRIES; i++) {
      long start = System.nanoTime();
      Answer answer = askOnce(request);
      latencies.add(System.nanoTime() - start);
      if (answer.status() != 503) {
        return answer;
      }
      refused++;
      if (answer.header("retry-after") == null && !undated) {
        undated = true;
        faults.add("503 without Retry-After: " + answer);
      }
      LockSupport.parkNanos(PAUSE_MILLIS * 10_000_000L);
    }
    throw new IllegalStateException("It was refused " + MAX_RETRIES + " times");
  }

  private Answer askOnce(Request request) {
    boolean anew = connection == null || asked++ % ON_A_CONNECTION == 0;
    try {
      return askOn(anew ? reconnect() : connection, request);
    } catch (UncheckedIOException closed) {
      // A server may close an idle connection, and in a flood of new ones it closes some without an
      // answer.
      lost++;
      disconnect();
      return anew ? LATER : askOnce(request);
    }
  }

  private Answer askOn(Connection open, Request request) {
    Answer answer = open.write(request.bytes()).read(false);
    if ("close".equals(answer.header("connection"))) {
      disconnect();
    }
    return answer;
  }

  private Connection reconnect() {
    disconnect();
    connection = new Connection(port, 0, PATIENCE_MILLIS);
    return connection;
  }

  private void disconnect() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  @Override
  public void close() {
    ending = true;
    followers.forEach(Follower::close);
    disconnect();
  }

  /** Reads the changes of a database as they come, on a thread of its own. */
  private static final class Follower implements AutoCloseable {
    private static final Pattern ID = Pattern.compile("\"id\":\"(doc\\d+)\"");
    private static final byte[] NOTHING = {};
    private static final int PATIENCE_MILLIS = 90_000;

    private final String name;
    private final Connection connection;
    private final Set<String> seen = new ConcurrentSkipListSet<>();
    private volatile String end;

    private interface Reading {
      /** Reads something; returns null if nothing more will come. */
      String next(Connection from);
    }

    /**
     * @param said sent once the server has answered the opening; before that no frame may be sent
     *     (RFC 6455, section 4.1)
     */
    private Follower(String name, int port, String opening, byte[] said, Reading reading) {
      this.name = name;
      connection = new Connection(port, 0, PATIENCE_MILLIS).write(opening);
      Thread thread = new Thread(() -> follow(said, reading), name);
      thread.setDaemon(true);
      thread.start();
    }

    static Follower byFeed(int port, String database) {
      String opening = Wire.get(database + "/_changes?feed=continuous&heartbeat=5000");
      return new Follower("the feed", port, opening, NOTHING, Follower::chunk);
    }

    static Follower bySocket(int port, String database) {
      byte[] subscription = Wire.subscribe("a", database.substring(1), ",\"heartbeat\":5000");
      return new Follower(
          "the socket", port, Wire.upgrade("/_changes"), subscription, Follower::message);
    }

    private void follow(byte[] said, Reading reading) {
      try {
        int status = connection.readHead().status();
        if (status != 200 && status != 101) {
          end = "status " + status;
          return;
        }
        connection.write(said);
        for (String next = reading.next(connection);
            next != null;
            next = reading.next(connection)) {
          Matcher id = ID.matcher(next);
          while (id.find()) {
            seen.add(id.group(1));
          }
          if (next.startsWith("{\"type\":\"error\"")) {
            end = next;
            return;
          }
        }
        end = "in order";
      } catch (Throwable failure) {
        end = failure.toString();
      }
    }

    private static String chunk(Connection from) {
      String chunk = from.chunkText();
      return chunk.isEmpty() ? null : chunk;
    }

    private static String message(Connection from) {
      Frame frame = from.frame();
      if (frame.opcode() == Frames.PING) {
        from.write(Frames.masked(Frames.PONG, true, frame.payload()));
      }
      return frame.opcode() == Frames.CLOSE
          ? null
          : new String(frame.payload(), StandardCharsets.UTF_8);
    }

    Set<String> unseen(Set<String> ids) {
      Set<String> unseen = new TreeSet<>(ids);
      unseen.removeAll(seen);
      return unseen;
    }

    boolean isOver() {
      return end != null;
    }

    /** Returns how it ended; null if it did not. */
    String end() {
      return end;
    }

    @Override
    public void close() {
      connection.close();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /** The latencies of answers. */
  static final class Latencies {
    private final List<Long> nanos = new ArrayList<>();

    synchronized void add(long time) {
      nanos.add(time);
    }

    /** Forgets all earlier latencies. */
    public synchronized void reset() {
      nanos.clear();
    }

    public synchronized int count() {
      return nanos.size();
    }

    /**
     * Returns the latency that so many percent did not exceed.
     *
     * @throws IllegalStateException if there was no answer
     */
    public synchronized Duration percentile(double percent) {
      if (nanos.isEmpty()) {
        throw new IllegalStateException("Nothing was answered");
      }
      List<Long> sorted = new ArrayList<>(nanos);
      Collections.sort(sorted);
      int rank = (int) Math.ceil(sorted.size() * percent / 100) - 1;
      return Duration.ofNanos(sorted.get(Math.max(0, rank)));
    }
  }
}
