package lectus.abuse;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;
import lectus.abuse.Line.Target;
import lectus.abuse.Line.Wire;
import lectus.abuse.Siege.Deadline;
import lectus.abuse.fuzz.Malformed;
import lectus.http.testing.Frames;

/**
 * Something that no client may do to others. It has few threads and leaves everything open until it
 * ends.
 */
public sealed interface Attack {

  /** Returns all attacks, in the size that broke earlier servers. */
  static List<Attack> all() {
    return List.of(
        new SlowBodies(3_400, 62_000),
        new UnfinishedMessages(740, 250_000),
        new SlowReaders(200),
        new SlowSocketReaders(200),
        new SelectorBombs(24),
        new HugeFilters(3, 60_000_000),
        new SubscriptionFlood(4, 1_000),
        new ManyDatabases(1_000),
        new ReshardingStorm(4),
        new MalformedHttp(16),
        new MalformedFrames(16),
        new HangUps(300));
  }

  /** Runs until the deadline. */
  void run(Target target, Random dice, Deadline deadline);

  default String title() {
    return getClass().getSimpleName();
  }

  /**
   * Clients that leave half-way: while they read, while they send, during a WebSocket's handshake.
   */
  record HangUps(int clients) implements Attack {
    private static final int RECEIVE_BYTES = 4_096;

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      try (Crowd crowd = new Crowd(clients, () -> begun(target, dice))) {
        while (!deadline.isOver()) {
          crowd.turn(2_000);
          // Each stays for about half a second.
          crowd.forEach(
              line -> {
                if (dice.nextInt(10) == 0) {
                  line.close();
                }
              });
          deadline.pause(50);
        }
      }
    }

    private static Line begun(Target target, Random dice) {
      Line line = Line.to(target, RECEIVE_BYTES);
      return switch (dice.nextInt(8)) {
        case 0 -> line.say(Wire.head("POST", "/large/_bulk_docs", 1 << 20)).say("{\"docs\":[");
        case 1 -> line.say(Wire.upgrade("/_changes")).say(Wire.subscribe("a", "large", ""));
        case 2 -> line.say(Wire.get("/large/_changes?feed=continuous&include_docs=true"));
        case 3 -> line.say("GET /large/_chan");
        default -> line.say(Wire.get("/large/_changes?include_docs=true"));
      };
    }
  }

  /** Lists of document ids of the largest allowed size, for feeds that never end. */
  record HugeFilters(int clients, int bytes) implements Attack {

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      String head =
          Wire.head("POST", "/large/_changes?filter=_doc_ids&feed=continuous&since=now", bytes);
      ByteBuffer list = ByteBuffer.wrap(list());
      try (Crowd crowd = new Crowd(clients, () -> Line.to(target, 0).say(head).say(list))) {
        while (!deadline.isOver()) {
          crowd.turn(64 << 10);
          deadline.pause(20);
        }
      }
    }

    private byte[] list() {
      StringBuilder ids = new StringBuilder(bytes).append("{\"doc_ids\":[\"0\"");
      for (int i = 1; ids.length() < bytes - 20; i++) {
        ids.append(",\"").append(i).append('"');
      }
      ids.append("]}");
      ids.append(" ".repeat(bytes - ids.length()));
      return ids.toString().getBytes(StandardCharsets.US_ASCII);
    }
  }

  /** Sockets with invalid frames and messages, from clients that reconnect at once. */
  record MalformedFrames(int clients) implements Attack {

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      Malformed frames = new Malformed(dice.nextLong());
      try (Crowd crowd =
          new Crowd(
              clients,
              () -> Line.to(target, 0).say(Wire.upgrade("/_changes")).say(frames.nextFrame()))) {
        while (!deadline.isOver()) {
          crowd.turn(64 << 10);
          crowd.forEach(
              line -> {
                if (dice.nextInt(5) == 0) {
                  line.close();
                }
              });
          deadline.pause(20);
        }
      }
    }
  }

  /** Invalid HTTP, from clients that reconnect at once. */
  record MalformedHttp(int clients) implements Attack {

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      Malformed requests = new Malformed(dice.nextLong());
      try (Crowd crowd = new Crowd(clients, () -> Line.to(target, 0).say(requests.next()))) {
        while (!deadline.isOver()) {
          crowd.turn(64 << 10);
          crowd.forEach(
              line -> {
                if (dice.nextInt(5) == 0) {
                  line.close();
                }
              });
          deadline.pause(20);
        }
      }
    }
  }

  /** Databases that are created and dropped over one connection. */
  record ManyDatabases(int databases) implements Attack {
    private static final int IN_A_TURN = 20;

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      int turn = 0;
      try (Crowd crowd = new Crowd(1, () -> Line.to(target, 0))) {
        while (!deadline.isOver()) {
          crowd.turn(1 << 20);
          int next = turn;
          crowd.forEach(
              line -> {
                for (int i = 0; i < IN_A_TURN && line.hasSaidAll(); i++) {
                  line.say(createAndDrop(next * IN_A_TURN + i));
                }
              });
          turn++;
          deadline.pause(30);
        }
      }
    }

    /** Creates a database, and drops the one that was created so many databases before. */
    private String createAndDrop(int number) {
      return Wire.request("PUT", "/abuse-" + number % databases, "")
          + Wire.request("DELETE", "/abuse-" + (number + databases / 2) % databases, "");
    }
  }

  /** A database that is resharded all the time while documents are written to it. */
  record ReshardingStorm(int clients) implements Attack {

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      try (Crowd crowd =
          new Crowd(clients, () -> Line.to(target, 0).say(Wire.request("PUT", "/sharded", "")))) {
        while (!deadline.isOver()) {
          crowd.turn(64 << 10);
          crowd.forEach(
              line -> {
                if (line.hasSaidAll()) {
                  line.say(next(dice));
                }
              });
          deadline.pause(20);
        }
      }
    }

    private static String next(Random dice) {
      return switch (dice.nextInt(3)) {
        case 0 ->
            Wire.request(
                "PUT", "/sharded/_changes/_meta", "{\"shards\":" + (1 + dice.nextInt(16)) + "}");
        case 1 -> Wire.request("POST", "/sharded", "{\"a\":" + dice.nextInt() + "}");
        default -> Wire.get("/sharded/_changes?limit=10");
      };
    }
  }

  /** Small selectors that take much memory or time, over HTTP and over sockets. */
  record SelectorBombs(int clients) implements Attack {
    private static final List<String> BOMBS =
        List.of(
            regex("(a{999}){9}"),
            regex("(a?){999}b"),
            regex("^([0-9a-z]*)*$"),
            regex("(".repeat(5_000) + ")".repeat(5_000)),
            regex(".*".repeat(400) + "x"),
            "{\"$or\":[" + (regex("(a{999}){9}") + ",").repeat(3_000) + "{}]}",
            "{\"" + "a.".repeat(100_000) + "a\":1}",
            "{\"$or\":[" + "{\"a\":{\"$gt\":1}},".repeat(50_000) + "{}]}",
            "{\"$not\":".repeat(450) + "{}" + "}".repeat(450),
            "{\"a\":{\"$in\":[" + "\"xxxxxxxx\",".repeat(100_000) + "1]}}");

    /** The longest message that a socket takes. */
    private static final int LONGEST_MESSAGE = 250_000;

    private static final int SUBSCRIPTIONS = 20;

    private static String regex(String pattern) {
      return "{\"text\":{\"$regex\":\"" + pattern + "\"}}";
    }

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      try (Crowd crowd = new Crowd(clients, () -> armed(target, dice))) {
        while (!deadline.isOver()) {
          crowd.turn(64 << 10);
          // A client that was answered begins anew.
          crowd.forEach(
              line -> {
                if (line.read() > 0 && dice.nextInt(20) == 0) {
                  line.close();
                }
              });
          deadline.pause(50);
        }
      }
    }

    private static Line armed(Target target, Random dice) {
      String bomb = BOMBS.get(dice.nextInt(BOMBS.size()));
      if (bomb.length() > LONGEST_MESSAGE || dice.nextBoolean()) {
        String body = "{\"selector\":" + bomb + "}";
        return Line.to(target, 0)
            .say(Wire.request("POST", "/large/_changes?filter=_selector", body));
      }
      Line line = Line.to(target, 0).say(Wire.upgrade("/_changes"));
      for (int i = 0; i < SUBSCRIPTIONS; i++) {
        line.say(Wire.subscribe("s" + i, "large", ",\"selector\":" + bomb));
      }
      return line;
    }
  }

  /** Bodies that arrive except for their end, of which a byte arrives now and then. */
  record SlowBodies(int clients, int bytes) implements Attack {

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      String head = Wire.head("POST", "/large/_bulk_docs", bytes);
      byte[] text = ("{\"docs\":[" + " ".repeat(bytes - 1_000)).getBytes(StandardCharsets.US_ASCII);
      ByteBuffer most = ByteBuffer.wrap(text);
      try (Crowd crowd = new Crowd(clients, () -> Line.to(target, 0).say(head).say(most))) {
        while (!deadline.isOver()) {
          crowd.turn(1_000);
          crowd.forEach(
              line -> {
                if (dice.nextInt(50) == 0) {
                  line.say(" ");
                }
              });
          deadline.pause(100);
        }
      }
    }
  }

  /** Clients that read large answers a few bytes at a time. */
  record SlowReaders(int clients) implements Attack {
    private static final List<String> LARGE =
        List.of(
            "/large/_changes?include_docs=true",
            "/large/_changes?include_docs=true&feed=continuous",
            "/large/_changes?include_docs=true&feed=longpoll",
            "/large/_all_docs?include_docs=true",
            "/large/text0");

    private static final int RECEIVE_BYTES = 4_096;

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      try (Crowd crowd =
          new Crowd(
              clients,
              () ->
                  Line.to(target, RECEIVE_BYTES)
                      .say(Wire.get(LARGE.get(dice.nextInt(LARGE.size())))))) {
        while (!deadline.isOver()) {
          crowd.turn(dice.nextInt(500));
          deadline.pause(100);
        }
      }
    }
  }

  /** WebSockets with large subscriptions whose clients hardly read. */
  record SlowSocketReaders(int clients) implements Attack {
    private static final int RECEIVE_BYTES = 4_096;
    private static final int SUBSCRIPTIONS = 20;

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      try (Crowd crowd = new Crowd(clients, () -> subscribed(target))) {
        while (!deadline.isOver()) {
          crowd.turn(dice.nextInt(500));
          deadline.pause(100);
        }
      }
    }

    private static Line subscribed(Target target) {
      Line line = Line.to(target, RECEIVE_BYTES).say(Wire.upgrade("/_changes"));
      for (int i = 0; i < SUBSCRIPTIONS; i++) {
        line.say(Wire.subscribe("s" + i, i % 2 == 0 ? "large" : "*", ",\"include_docs\":true"));
      }
      return line;
    }
  }

  /** Sockets on which the most subscriptions that are allowed begin and end, again and again. */
  record SubscriptionFlood(int clients, int subscriptions) implements Attack {
    private static final int IN_A_TURN = 40;

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      try (Crowd crowd =
          new Crowd(clients, () -> Line.to(target, 0).say(Wire.upgrade("/_changes")))) {
        while (!deadline.isOver()) {
          crowd.turn(1 << 20);
          crowd.forEach(
              line -> {
                if (line.hasSaidAll()) {
                  flood(line, dice);
                }
              });
          deadline.pause(50);
        }
      }
    }

    private void flood(Line line, Random dice) {
      for (int i = 0; i < IN_A_TURN; i++) {
        String id = "s" + dice.nextInt(subscriptions + 10);
        if (dice.nextInt(5) == 0) {
          line.say(Frames.text("{\"type\":\"unsubscribe\",\"id\":\"" + id + "\"}"));
        } else {
          String filter = ",\"since\":\"now\",\"doc_ids\":[\"" + dice.nextInt() + "\"]";
          line.say(Wire.subscribe(id, dice.nextBoolean() ? "large" : "*", filter));
        }
      }
    }
  }

  /** Sockets with an unfinished message each. */
  record UnfinishedMessages(int clients, int bytes) implements Attack {

    @Override
    public void run(Target target, Random dice, Deadline deadline) {
      String upgrade = Wire.upgrade("/_changes");
      byte[] message = new byte[bytes];
      Arrays.fill(message, (byte) ' ');
      ByteBuffer unfinished = ByteBuffer.wrap(Frames.masked(Frames.TEXT, false, message));
      try (Crowd crowd =
          new Crowd(clients, () -> Line.to(target, 0).say(upgrade).say(unfinished))) {
        while (!deadline.isOver()) {
          crowd.turn(1_000);
          deadline.pause(50);
        }
      }
    }
  }

  /** The connections of one attack: a constant number, whatever the server does to them. */
  final class Crowd implements AutoCloseable {
    private static final int NEW_IN_A_TURN = 200;

    private final int size;
    private final Supplier<Line> opening;
    private final List<Line> lines = new ArrayList<>();

    /**
     * @param opening creates a connection that has something to send
     */
    Crowd(int size, Supplier<Line> opening) {
      this.size = size;
      this.opening = opening;
    }

    /**
     * Gives each connection a turn, and replaces those that are over.
     *
     * @param mostRead the most bytes that each reads
     */
    void turn(int mostRead) {
      lines.forEach(line -> line.turn(mostRead));
      lines.stream().filter(Line::isOver).forEach(Line::close);
      lines.removeIf(Line::isOver);
      for (int i = 0; i < NEW_IN_A_TURN && lines.size() < size; i++) {
        lines.add(opening.get());
      }
    }

    void forEach(Consumer<Line> what) {
      lines.forEach(what);
    }

    @Override
    public void close() {
      lines.forEach(Line::close);
    }
  }
}
