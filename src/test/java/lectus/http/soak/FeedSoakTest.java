package lectus.http.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Connection.Frame;
import lectus.http.testing.Frames;
import lectus.http.testing.LectusServer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Clients of live feeds in all forms come and go, read slowly or not at all, and resume where they
 * were. Meanwhile documents are written, changes resharded, and databases deleted and created
 * again. What each connection saw is compared with the store: in order, nothing left out, nothing
 * twice.
 *
 * <p>Longer: {@code -Dlectus.soak.seconds=300}; the same again: {@code -Dlectus.soak.seed=…}.
 */
final class FeedSoakTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final long SECONDS = Long.getLong("lectus.soak.seconds", 4);
  private static final long SEED = Long.getLong("lectus.soak.seed", System.nanoTime());
  private static final int LISTENERS = 16;
  private static final int WRITERS = 2;
  private static final int DOCUMENTS = 60;
  private static final int SMALL_BUFFER = 4_096;

  private final LectusServer server = LectusServer.start(stores.fresh());
  private final List<Lives> databases =
      List.of(new Lives(server, "a"), new Lives(server, "b"), new Lives(server, "mortal"));
  private final ConcurrentHashMap<String, String> revisions = new ConcurrentHashMap<>();
  private final CountDownLatch writersDone = new CountDownLatch(WRITERS + 1);
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger rowsSeen = new AtomicInteger();
  private final List<Runnable> checks = new ArrayList<>();
  private final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);

  private boolean isTime() {
    return System.nanoTime() - end < 0;
  }

  @Test
  void each_connection_sees_everything_once_in_order() throws Exception {
    Random seeds = new Random(SEED);
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      Random random = new Random(seeds.nextLong());
      int number = i;
      running.add(threads.submit(() -> write(random, number)));
    }
    Random deaths = new Random(seeds.nextLong());
    running.add(threads.submit(() -> disturb(deaths)));
    for (int i = 0; i < LISTENERS; i++) {
      Random random = new Random(seeds.nextLong());
      running.add(threads.submit(() -> listen(random)));
    }
    try {
      for (Future<?> thread : running) {
        thread.get(SECONDS + 60, TimeUnit.SECONDS);
      }
      databases.forEach(Lives::end);
      checks.forEach(Runnable::run);
    } catch (ExecutionException | AssertionError e) {
      throw new AssertionError("seed " + SEED, e);
    } finally {
      threads.shutdownNow();
      server.close();
    }
    assertThat(connections.get()).isGreaterThan(LISTENERS);
    assertThat(rowsSeen.get()).isPositive();
  }

  private void write(Random random, int number) {
    try {
      while (isTime()) {
        Lives database = databases.get(random.nextInt(databases.size()));
        // Each writer has documents of its own, so that it knows their revisions.
        String id = "w" + number + "-" + random.nextInt(DOCUMENTS);
        database.whileAlive(() -> writeOne(random, database.name(), id));
        if (random.nextInt(10) == 0) {
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(20)));
        }
      }
    } finally {
      writersDone.countDown();
    }
  }

  private void writeOne(Random random, String database, String id) {
    String target = "/" + database + "/" + id;
    String rev = revisions.get(target);
    String query = rev == null ? "" : "?rev=" + rev;
    int length = random.nextInt(20) == 0 ? 30_000 : random.nextInt(200);
    Answer answer =
        rev != null && random.nextInt(8) == 0
            ? server.delete(target + query)
            : server.put(target + query, "{\"v\":\"" + "x".repeat(length) + "\"}");
    if (answer.status() == 201) {
      revisions.put(target, answer.member("rev"));
    } else if (answer.status() == 200) {
      revisions.remove(target);
    } else {
      throw new AssertionError(answer);
    }
  }

  private void disturb(Random random) {
    try {
      while (isTime()) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100 + random.nextInt(300)));
        databases.get(random.nextInt(databases.size())).reshard(1 + random.nextInt(5));
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100 + random.nextInt(300)));
        databases
            .get(2)
            .startAnother(
                () -> revisions.keySet().removeIf(target -> target.startsWith("/mortal/")));
      }
    } finally {
      writersDone.countDown();
    }
  }

  /** Runs one client after the other; the last one stays until it has seen everything. */
  private void listen(Random random) {
    String since = "0";
    Lives database = databases.get(random.nextInt(databases.size()));
    boolean last = false;
    while (!last) {
      last = !isTime();
      if (random.nextInt(4) == 0) {
        database = databases.get(random.nextInt(databases.size()));
        since = "0";
      }
      try {
        since = listenOnce(random, database, since, last);
      } catch (AnswerClient.NotThere e) {
        last = false;
      }
    }
  }

  private String listenOnce(Random random, Lives database, String since, boolean last) {
    int form = random.nextInt(5);
    boolean slow = !last && random.nextInt(3) == 0;
    long rows = last ? Long.MAX_VALUE : random.nextInt(400);
    String connection = "form " + form + " of " + database.name() + " since " + since;
    List<SeenRow> seen = new ArrayList<>();
    String upTo = since;
    Optional<String> ended = Optional.empty();
    connections.incrementAndGet();
    try (FeedClient client = open(random, form, database.name(), since, slow)) {
      while (ended.isEmpty() && seen.size() < rows && !(last && hasAll(database, upTo))) {
        if (slow) {
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(30)));
        }
        FeedClient.Event event = client.next();
        seen.addAll(event.rows());
        ended = event.end();
        upTo = seen.isEmpty() ? since : seen.get(seen.size() - 1).seq();
        if (!last && event.rows().isEmpty() && hasWaitedEnough(random)) {
          break;
        }
      }
    }
    String reached = ended.orElse(upTo);
    rowsSeen.addAndGet(seen.size());
    later(() -> database.check(seen, since, reached, connection));
    return last && !hasAll(database, reached)
        ? listenOnce(random, database, reached, true)
        : reached;
  }

  /** Called at each heartbeat, one a second. */
  private boolean hasWaitedEnough(Random random) {
    return !isTime() || random.nextInt(3) == 0;
  }

  private void later(Runnable check) {
    synchronized (checks) {
      checks.add(check);
    }
  }

  /** After all writes: whether a client that has come so far has seen everything. */
  private boolean hasAll(Lives database, String upTo) {
    return writersDone.getCount() == 0 && upTo.compareTo(database.lastChange()) >= 0;
  }

  private FeedClient open(Random random, int form, String database, String since, boolean slow) {
    Connection connection = new Connection(server.port(), slow ? SMALL_BUFFER : 0);
    boolean documents = random.nextInt(3) == 0;
    String options = documents ? "&include_docs=true" : "";
    return switch (form) {
      case 0 -> new AnswerClient(connection, database, "feed=longpoll" + options, since);
      case 1 -> new AnswerClient(connection, database, "feed=continuous" + options, since);
      case 2 -> new AnswerClient(connection, database, "feed=eventsource" + options, since);
      case 3 -> SocketFeedClient.ofDatabase(connection, database, options, since);
      default -> SocketFeedClient.subscription(connection, database, documents, since);
    };
  }

  /** The successive databases of one name, and what each held when it ended. */
  private static final class Lives {
    private final LectusServer server;
    private final String name;
    private final List<SortedMap<String, SeenRow>> ended = new ArrayList<>();
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    Lives(LectusServer server, String name) {
      this.server = server;
      this.name = name;
      server.put("/" + name);
    }

    String name() {
      return name;
    }

    /** Runs while the database exists. */
    void whileAlive(Runnable write) {
      lock.readLock().lock();
      try {
        write.run();
      } finally {
        lock.readLock().unlock();
      }
    }

    /** Deletes it while nobody writes, and creates it again; {@code between} runs meanwhile. */
    void startAnother(Runnable between) {
      lock.writeLock().lock();
      try {
        ended.add(content());
        server.delete("/" + name);
        between.run();
        server.put("/" + name);
      } finally {
        lock.writeLock().unlock();
      }
    }

    /** Replaces the shards of its changes, even while others write. */
    void reshard(int shards) {
      lock.readLock().lock();
      try {
        server.put("/" + name + "/_changes/_meta", "{\"shards\":" + shards + "}").expect(202);
      } finally {
        lock.readLock().unlock();
      }
    }

    /** Returns the sequence of the last row, which resharding does not change. */
    String lastChange() {
      String newest = server.get("/" + name + "/_changes?descending=true&limit=1").body();
      return newest.contains("{\"seq\"") ? SeenRow.text(SeenRow.parse(newest), "last_seq") : "0";
    }

    /** Records the content of the last life; nobody writes any more. */
    void end() {
      ended.add(content());
    }

    /** Returns the changes by sequence. */
    private SortedMap<String, SeenRow> content() {
      SortedMap<String, SeenRow> rows = new TreeMap<>();
      for (String line : server.get("/" + name + "/_changes").body().split("\r?\n")) {
        if (line.startsWith("{\"seq\"")) {
          String json = line.endsWith(",") ? line.substring(0, line.length() - 1) : line;
          SeenRow row = SeenRow.of(SeenRow.parse(json));
          rows.put(row.seq(), row);
        }
      }
      return rows;
    }

    /**
     * Compares what one connection saw with the changes.
     *
     * @param since the position after which it read
     * @param upTo the position up to which it had seen everything
     */
    void check(List<SeenRow> seen, String since, String upTo, String connection) {
      Map<String, SeenRow> bySequence = new HashMap<>();
      String before = since;
      for (SeenRow row : seen) {
        assertThat(row.seq()).as("order: %s", connection).isGreaterThan(before);
        before = row.seq();
        bySequence.put(row.seq(), row);
      }
      assertThat(seen.stream().map(row -> row.id() + row.rev()).toList())
          .as("repeats: %s", connection)
          .doesNotHaveDuplicates();
      if (!seen.isEmpty()) {
        lifeOf(seen.get(0).seq())
            .forEach(
                (seq, row) -> {
                  if (seq.compareTo(since) > 0 && seq.compareTo(upTo) <= 0) {
                    assertThat(bySequence.get(seq)).as("gap: %s", connection).isEqualTo(row);
                  }
                });
      }
    }

    /** Sequences of later lives are higher. */
    private SortedMap<String, SeenRow> lifeOf(String seq) {
      for (SortedMap<String, SeenRow> life : ended) {
        if (!life.isEmpty() && life.lastKey().compareTo(seq) >= 0) {
          return life;
        }
      }
      throw new AssertionError("The row at " + seq + " is of no life of " + name);
    }
  }

  /** A row of a feed, as a client saw it. */
  record SeenRow(String seq, String id, String rev) {

    /** Parses {@code {"seq":"…","id":"a","changes":[{"rev":"3-x"}],…}}. */
    static SeenRow of(JsonObject row) {
      JsonArray changes = (JsonArray) row.get("changes").orElseThrow();
      String rev = text((JsonObject) changes.elements().get(0), "rev");
      if (row.get("doc").orElse(null) instanceof JsonObject doc && !rev.equals(text(doc, "_rev"))) {
        throw new AssertionError("The document is not the row's: " + row);
      }
      return new SeenRow(text(row, "seq"), text(row, "id"), rev);
    }

    static JsonObject parse(String json) {
      return (JsonObject) JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
    }

    static String text(JsonObject object, String member) {
      return ((JsonString) object.get(member).orElseThrow()).value();
    }
  }

  /** A feed as the body of an answer: a line for each row, or an event. */
  static final class AnswerClient implements FeedClient {
    private static final String HEARTBEAT_EVENT = "event: heartbeat";

    private final Connection connection;
    private String last;

    /**
     * @param query begins with the form of the feed
     */
    AnswerClient(Connection connection, String database, String query, String since) {
      this.connection = connection;
      this.last = since;
      String target = "/" + database + "/_changes?" + query + "&heartbeat=1000&since=" + since;
      connection.write("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n");
      int status = connection.readHead().status();
      if (status != 200) {
        connection.close();
        throw new NotThere(status);
      }
    }

    /** The database is being deleted and created again. */
    static final class NotThere extends RuntimeException {
      private static final long serialVersionUID = 1;

      NotThere(int status) {
        super(Integer.toString(status));
        if (status != 404) {
          throw new AssertionError("Status " + status);
        }
      }
    }

    @Override
    public Event next() {
      String chunk = connection.chunkText();
      if (chunk.isEmpty()) {
        return Event.ended(last);
      }
      List<SeenRow> rows = new ArrayList<>();
      for (String line : chunk.split("\r?\n")) {
        String json = json(line);
        if (json.startsWith("{\"seq\"")) {
          rows.add(SeenRow.of(SeenRow.parse(json)));
          last = rows.get(rows.size() - 1).seq();
        } else if (json.contains("\"last_seq\":\"")) {
          last = json.replaceAll(".*\"last_seq\":\"([0-9a-f]+)\".*", "$1");
        }
      }
      return new Event(rows, Optional.empty());
    }

    /** Returns the JSON in a line of a continuous feed, a long poll or an event. */
    private static String json(String line) {
      String text = line.equals(HEARTBEAT_EVENT) ? "" : line.replaceFirst("^data: ", "");
      return text.endsWith(",") ? text.substring(0, text.length() - 1) : text;
    }

    @Override
    public void close() {
      connection.close();
    }
  }

  /** A feed over a WebSocket: rows as messages, or a subscription with credits. */
  private static final class SocketFeedClient implements FeedClient {
    private static final int CREDITS = 20;
    private static final String UPGRADE =
        " HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

    private final Connection connection;
    private final boolean subscribed;
    private String last;
    private int credits = CREDITS;

    private SocketFeedClient(Connection connection, boolean subscribed, String since) {
      this.connection = connection;
      this.subscribed = subscribed;
      this.last = since;
    }

    static SocketFeedClient ofDatabase(
        Connection connection, String database, String query, String since) {
      String target = "/" + database + "/_changes?heartbeat=1000&since=" + since + query;
      open(connection, "GET " + target + UPGRADE + "\r\n");
      return new SocketFeedClient(connection, false, since);
    }

    static SocketFeedClient subscription(
        Connection connection, String database, boolean includeDocs, String since) {
      open(
          connection,
          "GET /_changes" + UPGRADE + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n\r\n");
      String request =
          "{\"type\":\"subscribe\",\"id\":\"s\",\"db\":\"%s\",\"since\":\"%s\",\"include_docs\":%s,"
              + "\"heartbeat\":1000,\"credits\":%d}";
      connection.write(Frames.text(String.format(request, database, since, includeDocs, CREDITS)));
      return new SocketFeedClient(connection, true, since);
    }

    private static void open(Connection connection, String request) {
      int status = connection.write(request).readHead().status();
      if (status != 101) {
        connection.close();
        throw new AnswerClient.NotThere(status);
      }
    }

    @Override
    public Event next() {
      Frame frame = connection.frame();
      return switch (frame.opcode()) {
        case Frames.TEXT -> message(new String(frame.payload(), StandardCharsets.UTF_8));
        case Frames.CLOSE -> Event.ended(last);
        case Frames.PING -> {
          connection.write(Frames.masked(Frames.PONG, true, frame.payload()));
          yield Event.NOTHING;
        }
        default -> throw new AssertionError("Opcode " + frame.opcode());
      };
    }

    private Event message(String text) {
      JsonObject message = SeenRow.parse(text);
      if (!subscribed) {
        return message.get("seq").isPresent() ? row(message) : lastSequence(message);
      }
      return switch (SeenRow.text(message, "type")) {
        case "row" -> {
          grant();
          yield row((JsonObject) message.get("row").orElseThrow());
        }
        case "end" -> Event.ended(SeenRow.text(message, "at"));
        case "error" -> notThere(message);
        default -> Event.NOTHING;
      };
    }

    private Event row(JsonObject json) {
      SeenRow row = SeenRow.of(json);
      last = row.seq();
      return new Event(List.of(row), Optional.empty());
    }

    private Event lastSequence(JsonObject message) {
      last = SeenRow.text(message, "last_seq");
      return Event.NOTHING;
    }

    private void grant() {
      credits--;
      if (credits == 0) {
        credits = CREDITS;
        connection.write(Frames.text("{\"type\":\"credit\",\"id\":\"s\",\"n\":" + CREDITS + "}"));
      }
    }

    private Event notThere(JsonObject message) {
      if (!SeenRow.text(message, "error").equals("not_found")) {
        throw new AssertionError(message);
      }
      return Event.ended(last);
    }

    @Override
    public void close() {
      connection.close();
    }
  }

  /** A client of one live feed, in any form. */
  private interface FeedClient extends AutoCloseable {

    /**
     * The next rows; none for a heartbeat.
     *
     * @param end the last sequence, if the feed ended in order
     */
    record Event(List<SeenRow> rows, Optional<String> end) {
      static final Event NOTHING = new Event(List.of(), Optional.empty());

      static Event ended(String last) {
        return new Event(List.of(), Optional.of(last));
      }
    }

    /** Waits for the next event. */
    Event next();

    /** Drops the connection, whatever is on its way. */
    @Override
    void close();
  }
}
