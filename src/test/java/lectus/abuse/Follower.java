package lectus.abuse;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.http.testing.Connection;
import lectus.http.testing.Connection.Frame;
import lectus.http.testing.Frames;

/** Reads the changes of a database as they come, on a thread of its own. */
final class Follower implements AutoCloseable {
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
      for (String next = reading.next(connection); next != null; next = reading.next(connection)) {
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
    } catch (RuntimeException failure) {
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

  boolean saw(Collection<String> ids) {
    return seen.containsAll(ids);
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
