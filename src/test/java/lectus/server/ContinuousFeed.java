package lectus.server;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;

/** A client of a continuous or EventSource feed, with a thread that reads it. */
final class ContinuousFeed implements AutoCloseable {
  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");
  private static final String EVENT = "data: ";
  private static final long PATIENCE_SECONDS = 60;

  /** The number of attempts to wake a feed before the test fails: a minute. */
  private static final int MAX_CALLS = 240;

  /** After this time a write is taken for one that woke nobody. */
  private static final long WAKE_MILLIS = 250;

  /** Stands for the end of the connection. */
  private static final String END = "";

  private final Connection connection;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  /** Returns when the feed has begun. */
  ContinuousFeed(LectusServer server, String database, String since) {
    this(server.port(), database, since);
  }

  ContinuousFeed(int port, String database, String since) {
    this(port, "/" + database + "/_changes?feed=continuous&heartbeat=5000&since=" + since);
  }

  ContinuousFeed(int port, String target) {
    connection = new Request(port, "GET", target).open();
    connection.readHead();
    Thread reader = new Thread(this::read, "reader of " + target);
    reader.setDaemon(true);
    reader.start();
  }

  private void read() {
    try {
      String unfinished = "";
      for (String chunk = connection.chunkText();
          !chunk.isEmpty();
          chunk = connection.chunkText()) {
        String text = unfinished + chunk;
        int end = text.lastIndexOf('\n') + 1;
        unfinished = text.substring(end);
        text.substring(0, end).lines().forEach(this::take);
      }
    } catch (RuntimeException cut) {
      // For a client this is like an orderly end: it reconnects elsewhere.
    }
    lines.add(END);
  }

  /** Keeps rows and the last line, but not heartbeats or an event's other lines. */
  private void take(String line) {
    int object = line.startsWith(EVENT) ? EVENT.length() : 0;
    if (line.startsWith("{", object)) {
      lines.add(line.substring(object));
    }
  }

  /** Returns the next row or last line, without heartbeats; empty if the connection has ended. */
  String next() {
    String line = nextWithin(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (line == null) {
      throw new IllegalStateException("Nothing came");
    }
    return line;
  }

  private String nextWithin(long time, TimeUnit unit) {
    try {
      return lines.poll(time, unit);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns whether a row with this id comes before nothing has come for a quarter of a second. */
  boolean sees(String id) {
    String line = nextWithin(WAKE_MILLIS, TimeUnit.MILLISECONDS);
    while (line != null && !idOf(line).equals(id)) {
      line = nextWithin(WAKE_MILLIS, TimeUnit.MILLISECONDS);
    }
    return line != null;
  }

  /** Returns the id of the next row. */
  String nextId() {
    return idOf(next());
  }

  static String idOf(String line) {
    Matcher id = ID.matcher(line);
    if (!id.find()) {
      throw new IllegalStateException("No row: " + line);
    }
    return id.group(1);
  }

  /** Returns the id of the next row whose id has another prefix. */
  String nextIdBut(String head) {
    String id = nextId();
    while (id.startsWith(head)) {
      id = nextId();
    }
    return id;
  }

  /** Returns the feed's last line, after any rows. */
  String lastLine() {
    String line = next();
    while (line.startsWith("{\"seq\"")) {
      line = next();
    }
    return line;
  }

  /**
   * Writes until the feed wakes.
   *
   * @param write given 0, 1, 2, …
   */
  void wakeBy(IntConsumer write) {
    for (int number = 0; number < MAX_CALLS; number++) {
      write.accept(number);
      if (nextWithin(WAKE_MILLIS, TimeUnit.MILLISECONDS) != null) {
        return;
      }
    }
    throw new IllegalStateException("Nothing wakes the feed");
  }

  @Override
  public void close() {
    connection.close();
  }
}
