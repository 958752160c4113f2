package lectus.http.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import lectus.http.socket.FeedHistory.Life;
import lectus.http.socket.ModelReader.Content;
import lectus.http.socket.ModelReader.Scope;
import lectus.http.socket.ModelReader.Show;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/**
 * Four databases, their stored feeds, and clients of four sockets, at random. What the clients are
 * told is compared with the history of the store, row by row.
 */
final class LiveFeedsModel implements AutoCloseable {
  private static final int SOCKETS = 4;
  private static final int READERS = 10;
  private static final int POLLERS = 3;
  private static final int DOCUMENTS = 7;
  private static final int STEPS = 60;

  /** More than a feed has at once. */
  private static final int MANY_DOCUMENTS = 205;

  private static final List<String> FEEDS = List.of("s", "c");
  private static final Map<String, String> DEFINITIONS =
      Map.of("s", "{\"selector\":{\"n\":{\"$gt\":1}}}", "c", "{\"channels\":\"x.ch\"}");

  private final LectusServer server;
  private final FeedHistory history;
  private final String prefix;
  private final Random random;
  private final Map<String, Life> databases = new TreeMap<>();
  private final List<Socket> sockets = new ArrayList<>();
  private final List<Poller> pollers = new ArrayList<>();
  private final List<Connection> writers = new ArrayList<>();

  /** Leaves of each document, by database; true: it is deleted. */
  private final Map<String, Map<String, Map<String, Boolean>>> leaves = new HashMap<>();

  private int revisions;

  LiveFeedsModel(LectusServer server, FeedHistory history, long seed) {
    this.server = server;
    this.history = history;
    this.prefix = "m" + seed + "-";
    this.random = new Random(seed);
    for (int i = 0; i < 2; i++) {
      writers.add(server.connect());
    }
  }

  void run() {
    for (String name : List.of("a", "b", "c", "d")) {
      create(prefix + name);
    }
    for (int i = 0; i < SOCKETS; i++) {
      sockets.add(new Socket());
    }
    for (int step = 0; step < STEPS; step++) {
      change();
      act();
    }
    sockets.forEach(Socket::finish);
    pollers.forEach(Poller::finish);
    pollers.forEach(it -> it.reader.check());
    sockets.forEach(socket -> socket.readers.values().forEach(it -> it.reader.check()));
  }

  /** A subscription of a reader. */
  private static final class Subscriber {
    private final ModelReader reader;
    private final boolean counts;
    private long credits;
    private boolean subscribed;
    private boolean ends;
    private boolean hasCaughtUp;

    /** The only database's, when it subscribed; null of many. */
    private Life life;

    Subscriber(ModelReader reader, boolean counts) {
      this.reader = reader;
      this.counts = counts;
    }
  }

  /** A client with several readers. */
  private final class Socket {
    private final Map<String, Subscriber> readers = new LinkedHashMap<>();
    private SocketClient client = connect();

    private SocketClient connect() {
      return SocketClient.connect(server, "/_changes", "lectus.changes.v1");
    }

    void subscribe(Subscriber some, boolean counts) {
      ModelReader reader = some.reader;
      if (reader.scope.one() && !reader.livesRead().contains(some.life)) {
        // A position of another life of the database means nothing.
        boolean isFirst = some.life == null;
        some.life = reader.livesRead().get(0);
        if (!isFirst) {
          reader.beginAnew();
        }
      }
      some.credits = counts ? 1 + random.nextInt(5) : Long.MAX_VALUE;
      some.subscribed = true;
      some.ends = false;
      StringBuilder json = new StringBuilder("{\"type\":\"subscribe\",\"id\":\"" + reader.id);
      json.append("\",\"db\":").append(reader.scope.json());
      json.append(",\"since\":\"").append(reader.since).append('"');
      if (counts) {
        json.append(",\"credits\":").append(some.credits);
      }
      if (reader.show.isOfFeed()) {
        json.append(",\"feed\":\"").append(reader.show.feed()).append('"');
        json.append(",\"left\":").append(reader.show.left());
      }
      if (!reader.show.channels().isEmpty()) {
        List<String> names = new ArrayList<>();
        reader.show.channels().forEach(it -> names.add('"' + it.replace("\0", "\\u0000") + '"'));
        json.append(",\"channels\":[").append(String.join(",", names)).append(']');
      }
      client.send(json.append('}').toString());
    }

    void cut() {
      client.close();
      client = connect();
      readers.values().forEach(it -> subscribe(it, it.counts));
    }

    void takeWhatCame() {
      for (String text = client.poll(); text != null; text = client.poll()) {
        take(text);
      }
      readers.values().stream()
          .filter(it -> !it.subscribed)
          .forEach(it -> subscribe(it, it.counts));
    }

    private void take(String text) {
      JsonObject message = json(text);
      Subscriber some = readers.get(SocketClient.text(message, "id"));
      String type = SocketClient.text(message, "type");
      ModelReader reader = some.reader;
      switch (type) {
        case "row" -> {
          some.credits--;
          assertThat(some.credits).as("credits of %s", reader).isNotNegative();
          reader.moveTo(SocketClient.text(message, "at"), true);
          reader.takeRow(
              SocketClient.text(message, "db"), (JsonObject) message.get("row").orElseThrow());
        }
        case "left" -> {
          reader.takeLeft(SocketClient.text(message, "db"));
          if (reader.scope.one() && SocketClient.text(message, "at").equals("0")) {
            // The database was made anew while the subscription was on its way.
            some.life = reader.livesRead().get(0);
            reader.beginAnew();
          }
          reader.moveTo(SocketClient.text(message, "at"), false);
        }
        case "caught_up", "heartbeat" -> {
          reader.moveTo(SocketClient.text(message, "at"), false);
          some.hasCaughtUp = true;
        }
        case "end" -> {
          reader.moveTo(SocketClient.text(message, "at"), false);
          some.subscribed = false;
          if (reader.scope.one() && !some.ends) {
            reader.beginAnew();
          }
        }
        case "error" -> {
          if (text.contains("There is no subscription of this id")) {
            // A credit came when the subscription was over.
            return;
          }
          some.subscribed = false;
          assertThat(SocketClient.text(message, "error"))
              .as("%s: %s", reader, text)
              .isIn("feed_deleted", "not_found");
          reader.beginAnew();
        }
        default -> throw new AssertionError(text);
      }
    }

    void give(Subscriber some) {
      if (some.counts && some.subscribed) {
        int more = 1 + random.nextInt(5);
        some.credits += more;
        client.send("{\"type\":\"credit\",\"id\":\"" + some.reader.id + "\",\"n\":" + more + "}");
      }
    }

    /** All readers end where they are, and read what is left without being cut. */
    void finish() {
      for (Subscriber some : readers.values()) {
        if (some.subscribed) {
          some.ends = true;
          client.send("{\"type\":\"unsubscribe\",\"id\":\"" + some.reader.id + "\"}");
        }
        while (some.subscribed) {
          take(client.text());
        }
        String end = history.now();
        some.hasCaughtUp = false;
        while (!some.hasCaughtUp) {
          if (!some.subscribed) {
            subscribe(some, false);
          }
          take(client.text());
        }
        some.reader.checkTo(end);
      }
    }
  }

  /** A client that asks page by page: for a database, or for each of its changes shards. */
  private final class Poller {
    private final ModelReader reader;
    private final boolean ofShards;

    /** Positions, by the end of the path. */
    private final Map<String, String> positions = new TreeMap<>();

    private final Set<String> read = new TreeSet<>();

    Poller(ModelReader reader, boolean ofShards) {
      this.reader = reader;
      this.ofShards = ofShards;
      beginAnew();
    }

    private String path() {
      return "/" + reader.scope.json().replace("\"", "") + "/_changes";
    }

    boolean reads(String name, String feed) {
      return reader.scope.includes().test(name) && reader.show.feed().equals(feed);
    }

    void beginAnew() {
      reader.beginAnew();
      positions.clear();
      read.clear();
      if (ofShards) {
        JsonObject all = json(server.get(path() + "/_meta").body());
        for (JsonValue each : elements(all, "generations")) {
          List<JsonValue> shards = elements((JsonObject) each, "shards");
          if (positions.isEmpty()) {
            shards.forEach(it -> positions.put("/" + textOf(it), "0"));
          }
        }
      } else {
        positions.put("", "0");
      }
    }

    /** Reads a page; returns whether something may follow. */
    boolean poll(int limit) {
      List<String> all = List.copyOf(positions.keySet());
      String place = all.get(random.nextInt(all.size()));
      StringBuilder target = new StringBuilder(path()).append(place);
      target.append("?limit=").append(limit).append("&since=").append(positions.get(place));
      if (reader.show.isOfFeed()) {
        target.append("&filter=_feed/").append(reader.show.feed());
        target.append("&left=").append(reader.show.left());
      }
      reader.show.channels().forEach(it -> target.append("&channel=").append(encoded(it)));
      String body = server.get(target.toString()).body();
      JsonObject page = json(body);
      List<JsonValue> rows = elements(page, "results");
      String db = reader.scope.json().replace("\"", "");
      rows.forEach(row -> reader.takeRow(db, (JsonObject) row));
      positions.put(place, SocketClient.text(page, "last_seq"));
      page.get("resharded").ifPresent(next -> goOn(place, (JsonObject) next));
      return !rows.isEmpty() || page.get("resharded").isPresent();
    }

    private void goOn(String place, JsonObject next) {
      positions.remove(place);
      read.add(place);
      for (JsonValue shard : elements(next, "shards")) {
        if (!read.contains("/" + textOf(shard))) {
          positions.putIfAbsent("/" + textOf(shard), SocketClient.text(next, "seq"));
        }
      }
    }

    /** Reads all that is there. */
    void finish() {
      int silent = 0;
      while (silent < 12 * positions.size()) {
        silent = poll(100) ? 0 : silent + 1;
      }
      reader.checkTo(history.now());
    }
  }

  private static String encoded(String channel) {
    return URLEncoder.encode(channel, StandardCharsets.UTF_8);
  }

  private static JsonObject json(String text) {
    return (JsonObject) JsonValue.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<JsonValue> elements(JsonObject object, String member) {
    return ((JsonValue.JsonArray) object.get(member).orElseThrow()).elements();
  }

  private static String textOf(JsonValue value) {
    return ((JsonValue.JsonString) value).value();
  }

  private void create(String name) {
    String shards = "/" + name + "?changes_shards=" + (1 + random.nextInt(3));
    assertThat(server.put(shards).status()).isEqualTo(201);
    databases.put(name, history.begin(name));
    leaves.put(name, new HashMap<>());
    if (random.nextInt(4) == 0) {
      writeMany(name);
    }
    FEEDS.forEach(feed -> define(name, feed));
  }

  private void define(String name, String feed) {
    assertThat(server.put("/" + name + "/_feeds/" + feed, DEFINITIONS.get(feed)).status())
        .isEqualTo(201);
  }

  private String someDatabase() {
    return List.copyOf(databases.keySet()).get(random.nextInt(databases.size()));
  }

  private void change() {
    String name = someDatabase();
    switch (random.nextInt(24)) {
      case 0 -> {
        server.put("/" + name + "/_changes/_meta", "{\"shards\":" + (1 + random.nextInt(4)) + "}");
      }
      case 1 -> {
        if (random.nextInt(3) == 0) {
          recreate(name);
        }
      }
      case 2, 3 -> {
        purge(name);
      }
      case 4, 5, 6, 7 -> {
        burst();
      }
      case 8 -> {
        if (random.nextInt(3) == 0) {
          String feed = FEEDS.get(random.nextInt(2));
          assertThat(server.delete("/" + name + "/_feeds/" + feed).status()).isEqualTo(200);
          define(name, feed);
          sockets.stream()
              .flatMap(it -> it.readers.values().stream())
              .forEach(it -> it.reader.feedRemoved(name, feed));
          pollers.stream().filter(it -> it.reads(name, feed)).forEach(Poller::beginAnew);
        }
      }
      default ->
          assertThat(server.post("/" + name + "/_bulk_docs", edits(name)).status()).isEqualTo(201);
    }
  }

  private void recreate(String name) {
    assertThat(server.delete("/" + name).status()).isEqualTo(200);
    history.end(databases.get(name));
    create(name);
    pollers.stream().filter(it -> it.reader.scope.includes().test(name)).forEach(Poller::beginAnew);
  }

  private void purge(String name) {
    Map<String, Boolean> known = leaves.get(name).getOrDefault(someDocument(), Map.of());
    leaves
        .get(name)
        .forEach(
            (doc, revs) -> {
              if (revs == known && !revs.isEmpty()) {
                String rev = revs.keySet().iterator().next();
                String body = "{\"" + doc + "\":[\"" + rev + "\"]}";
                assertThat(server.post("/" + name + "/_purge", body).status()).isEqualTo(201);
                revs.remove(rev);
              }
            });
  }

  private String someDocument() {
    return "d" + random.nextInt(DOCUMENTS);
  }

  /** Several connections write at once, several edits of few documents each. */
  private void burst() {
    Map<Connection, Integer> sent = new LinkedHashMap<>();
    for (Connection writer : writers) {
      String name = someDatabase();
      int requests = 2 + random.nextInt(5);
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < requests; i++) {
        String body = edits(name);
        text.append("POST /" + name + "/_bulk_docs HTTP/1.1\r\nHost: localhost\r\n");
        text.append("Content-Type: application/json\r\nContent-Length: ");
        text.append(body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
      }
      writer.write(text.toString());
      sent.put(writer, requests);
    }
    sent.forEach(
        (writer, requests) -> {
          for (int i = 0; i < requests; i++) {
            assertThat(writer.read(false).status()).isEqualTo(201);
          }
        });
  }

  private void writeMany(String name) {
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < MANY_DOCUMENTS; i++) {
      docs.add(edit(name, "m" + i));
    }
    String body = "{\"new_edits\":false,\"docs\":[" + String.join(",", docs) + "]}";
    assertThat(server.post("/" + name + "/_bulk_docs", body).status()).isEqualTo(201);
  }

  /** Returns edits of one or two documents: with conflicts, deletions, second tombstones. */
  private String edits(String name) {
    List<String> docs = new ArrayList<>();
    for (int i = random.nextInt(3) == 0 ? 2 : 1; i > 0; i--) {
      docs.add(edit(name, someDocument()));
    }
    return "{\"new_edits\":false,\"docs\":[" + String.join(",", docs) + "]}";
  }

  private String edit(String name, String doc) {
    Map<String, Boolean> known = leaves.get(name).computeIfAbsent(doc, none -> new TreeMap<>());
    int few = random.nextInt(16);
    int mask = few & random.nextInt(16);
    if (random.nextInt(6) == 0) {
      mask |= 0x80;
    }
    Content content = new Content(mask, random.nextInt(4), ++revisions);
    boolean isNew = known.isEmpty() || random.nextInt(8) == 0;
    String parent = isNew ? "" : List.copyOf(known.keySet()).get(random.nextInt(known.size()));
    int position = isNew ? 1 : Integer.parseInt(parent.substring(0, parent.indexOf('-'))) + 1;
    boolean deleted = !isNew && random.nextInt(known.get(parent) ? 2 : 5) == 0;
    if (deleted && random.nextBoolean()) {
      content = new Content(0, 0, revisions);
    }
    known.remove(parent);
    known.put(position + "-" + content.hash(), deleted);
    String ids =
        "\""
            + content.hash()
            + "\""
            + (isNew ? "" : ",\"" + parent.substring(parent.indexOf('-') + 1) + "\"");
    return "{\"_id\":\"%s\",\"_rev\":\"%d-%s\",\"_revisions\":{\"start\":%d,\"ids\":[%s]},%s%s}"
        .formatted(
            doc,
            position,
            content.hash(),
            position,
            ids,
            deleted ? "\"_deleted\":true," : "",
            content.json());
  }

  private void act() {
    Socket socket = sockets.get(random.nextInt(SOCKETS));
    int count = sockets.stream().mapToInt(it -> it.readers.size()).sum();
    if (count < READERS && random.nextInt(3) == 0) {
      Subscriber some = newReader("r" + count);
      socket.readers.put(some.reader.id, some);
      socket.subscribe(some, some.counts);
      return;
    }
    if (pollers.size() < POLLERS && random.nextInt(6) == 0) {
      Scope scope = ofOne(someDatabase());
      ModelReader reader = new ModelReader(history, "p" + pollers.size(), scope, someShow());
      pollers.add(new Poller(reader, random.nextInt(3) > 0));
    }
    if (!pollers.isEmpty() && random.nextInt(3) == 0) {
      pollers.get(random.nextInt(pollers.size())).poll(1 + random.nextInt(4));
    }
    List<Subscriber> readers = List.copyOf(socket.readers.values());
    switch (random.nextInt(12)) {
      case 0 -> socket.cut();
      case 1, 2, 3, 4, 5 -> readers.forEach(socket::give);
      case 6 -> {
        if (random.nextInt(8) == 0) {
          System.gc();
        }
      }
      default -> sockets.forEach(Socket::takeWhatCame);
    }
  }

  private Subscriber newReader(String id) {
    boolean one = random.nextBoolean();
    Scope scope = one ? ofOne(someDatabase()) : ofMany();
    ModelReader reader = new ModelReader(history, id, scope, someShow());
    reader.beginAnew();
    if (one && random.nextBoolean()) {
      somePoint(scope).ifPresent(reader::beginAt);
    }
    return new Subscriber(reader, random.nextBoolean());
  }

  private Show someShow() {
    boolean left = random.nextInt(3) > 0;
    return switch (random.nextInt(8)) {
      case 0 -> new Show("", Set.of(), false);
      case 1, 2 -> new Show("s", Set.of(), left);
      case 3, 4 -> new Show("c", new TreeSet<>(List.of(someChannel(), someChannel())), left);
      default -> new Show("c", Set.of(someChannel()), left);
    };
  }

  private static Scope ofOne(String name) {
    return new Scope(true, '"' + name + '"', name::equals);
  }

  private Scope ofMany() {
    return random.nextBoolean()
        ? new Scope(false, "\"" + prefix + "*\"", name -> name.startsWith(prefix))
        : new Scope(
            false,
            "[\"%sa\",\"%sb\"]".formatted(prefix, prefix),
            Set.of(prefix + "a", prefix + "b")::contains);
  }

  private String someChannel() {
    return Content.CHANNELS.get(random.nextInt(Content.CHANNELS.size()));
  }

  /** Returns a position of a database that it has had. */
  private Optional<String> somePoint(Scope scope) {
    String name = scope.json().replace("\"", "");
    String last = server.get("/" + name).member("update_seq");
    return last.equals("0") ? Optional.empty() : Optional.of(last);
  }

  @Override
  public void close() {
    writers.forEach(Connection::close);
    sockets.forEach(it -> it.client.close());
  }
}
