package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import lectus.http.changes.FeedHistory.Life;
import lectus.http.changes.ModelReader.Content;
import lectus.http.changes.ModelReader.Scope;
import lectus.http.changes.ModelReader.Show;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.store.Store;

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

  /** Edits before and behind what a reader may not see. */
  private static final int MIDST = 4;

  private static final int MAX_NOTES = 300;
  private static final String ADMIN = "root";
  private static final String MEMBER = "mia";

  /** More than a feed has at once. */
  private static final int MANY_DOCUMENTS = 205;

  private static final List<String> FEEDS = List.of("s", "c");
  private static final Map<String, String> DEFINITIONS =
      Map.of("s", "{\"selector\":{\"n\":{\"$gt\":1}}}", "c", "{\"channels\":\"x.ch\"}");

  private final Member admin;
  private final Member member;
  private final FeedHistory history;
  private final String prefix;
  private final Random random;
  private final Map<String, Life> databases = new TreeMap<>();
  private final List<Socket> sockets = new ArrayList<>();
  private final ModelPolls polls;
  private final ModelPolls.Updates updates;
  private final List<ModelPolls.Pages> pollers = new ArrayList<>();
  private final List<Connection> writers = new ArrayList<>();

  /** Leaves of each document, by database; true: it is deleted. */
  private final Map<String, Map<String, Map<String, Boolean>>> leaves = new HashMap<>();

  /** Points of the store, and sequences that databases of a name had, also in former lives. */
  private final List<String> points = new ArrayList<>();

  private final Map<String, List<String>> sequences = new HashMap<>();

  /** The database that is deleted for a while; null if there is none. */
  private String absent;

  private int revisions;

  /** What was said last, for people. */
  private final Deque<String> journal = new ArrayDeque<>();

  /** The server of a store on which many models run, one after the other. */
  static LectusServer start(Store store) {
    Member.makeAdmin(store, ADMIN);
    LectusServer server = LectusServer.start(store);
    Member admin = new Member(server, ADMIN);
    admin.request("PUT", "/_users").send();
    admin.user(MEMBER);
    return server;
  }

  LiveFeedsModel(LectusServer server, FeedHistory history, long seed) {
    this.admin = new Member(server, ADMIN);
    this.member = new Member(server, MEMBER);
    this.history = history;
    this.prefix = "m" + seed + "-";
    this.random = new Random(seed);
    this.polls = new ModelPolls(admin, history, random);
    this.updates = polls.new Updates();
    for (int i = 0; i < 2; i++) {
      writers.add(server.connect());
    }
  }

  /** Fails with what was said before. */
  void run() {
    try {
      play();
    } catch (AssertionError found) {
      throw new AssertionError(found.getMessage() + '\n' + String.join("\n", journal), found);
    }
  }

  private void note(String text) {
    journal.add(history.now() + ' ' + text);
    if (journal.size() > MAX_NOTES) {
      journal.remove();
    }
  }

  private void play() {
    for (String name : List.of("a", "b", "c", "d")) {
      create(prefix + name);
    }
    for (int i = 0; i < SOCKETS; i++) {
      sockets.add(new Socket(i % 2 == 1));
    }
    for (int step = 0; step < STEPS; step++) {
      change();
      act();
    }
    makeAbsent();
    sockets.forEach(Socket::finish);
    pollers.forEach(ModelPolls.Pages::finish);
    updates.finish();
    sockets.forEach(socket -> socket.readers.values().forEach(it -> it.reader.check()));
  }

  /** A subscription of a reader. */
  private static final class Subscriber {
    private final ModelReader reader;
    private final boolean counts;
    private long credits;

    /** Rows up to its limit. */
    private long rows;

    private boolean subscribed;

    /** Whether it may end before its limit. */
    private boolean ends;

    private boolean hasCaughtUp;

    Subscriber(ModelReader reader, boolean counts) {
      this.reader = reader;
      this.counts = counts;
    }
  }

  /** A client with several readers. */
  private final class Socket {
    private final Map<String, Subscriber> readers = new LinkedHashMap<>();
    private final boolean byMember;

    /** Null while it is away. */
    private SocketClient client;

    private boolean isPaused;

    Socket(boolean byMember) {
      this.byMember = byMember;
      connect();
    }

    /** Stops reading, or reads on. */
    void pauseOrResume() {
      if (client != null) {
        isPaused = !isPaused;
        if (isPaused) {
          client.pause();
        } else {
          client.resume();
        }
      }
    }

    private void connect() {
      isPaused = false;
      client = (byMember ? member : admin).socket("/_changes", "lectus.changes.v1");
      readers.values().forEach(this::subscribe);
    }

    void add(Subscriber some) {
      comeBack();
      readers.put(some.reader.id, some);
      subscribe(some);
    }

    /** Sometimes it ends before it has begun. */
    void subscribe(Subscriber some) {
      long credits = some.counts ? 1 + random.nextInt(5) : Long.MAX_VALUE;
      subscribe(some, credits, random.nextInt(4) == 0 ? 1 + random.nextInt(6) : Long.MAX_VALUE);
      if (random.nextInt(6) == 0) {
        unsubscribe(some);
      }
    }

    void unsubscribe(Subscriber some) {
      if (some.subscribed) {
        some.ends = true;
        client.send("{\"type\":\"unsubscribe\",\"id\":\"" + some.reader.id + "\"}");
      }
    }

    private void subscribe(Subscriber some, long credits, long limit) {
      ModelReader reader = some.reader;
      some.credits = credits;
      some.rows = limit;
      some.subscribed = true;
      some.ends = false;
      reader.asks();
      StringBuilder json = new StringBuilder("{\"type\":\"subscribe\",\"id\":\"" + reader.id);
      json.append("\",\"db\":").append(reader.scope.json());
      json.append(",\"since\":\"").append(reader.since).append('"');
      if (credits < Long.MAX_VALUE) {
        json.append(",\"credits\":").append(credits);
      }
      if (limit < Long.MAX_VALUE) {
        json.append(",\"limit\":").append(limit);
      }
      if (random.nextBoolean()) {
        json.append(",\"heartbeat\":1000");
      }
      if (reader.show.withDocuments()) {
        json.append(",\"include_docs\":true");
      }
      if (!reader.show.ids().isEmpty()) {
        json.append(",\"doc_ids\":[\"")
            .append(String.join("\",\"", reader.show.ids()))
            .append("\"]");
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
      note(json.toString());
    }

    /** What is under way is lost. */
    void cut() {
      if (client != null) {
        client.close();
        client = null;
        readers.values().forEach(it -> it.subscribed = false);
      }
      if (random.nextBoolean()) {
        connect();
      }
    }

    void comeBack() {
      if (client == null) {
        connect();
      }
    }

    void takeWhatCame() {
      if (client != null) {
        for (String text = client.poll(); text != null; text = client.poll()) {
          take(text);
        }
        readers.values().stream().filter(it -> !it.subscribed).forEach(this::subscribe);
      }
    }

    private void take(String text) {
      note(text);
      JsonObject message = ModelPolls.json(text);
      Subscriber some = readers.get(SocketClient.text(message, "id"));
      ModelReader reader = some.reader;
      String at = SocketClient.text(message, "at");
      switch (SocketClient.text(message, "type")) {
        case "row" -> {
          some.credits--;
          some.rows--;
          assertThat(some.credits).as("credits of %s", reader).isNotNegative();
          assertThat(some.rows).as("rows up to the limit of %s", reader).isNotNegative();
          reader.moveTo(at, true);
          reader.takeRow(
              SocketClient.text(message, "db"), (JsonObject) message.get("row").orElseThrow());
        }
        case "left" -> takeLeft(some, SocketClient.text(message, "db"), at);
        case "heartbeat" -> reader.moveTo(at, false);
        case "caught_up" -> {
          reader.moveTo(at, false);
          some.hasCaughtUp = true;
        }
        case "end" -> {
          reader.moveTo(at, false);
          some.subscribed = false;
          assertThat(some.ends || some.rows == 0).as("an end of %s", reader).isTrue();
        }
        case "error" -> takeError(some, text);
        default -> throw new AssertionError(text);
      }
    }

    private void takeLeft(Subscriber some, String db, String at) {
      ModelReader reader = some.reader;
      boolean isBeginning = at.equals("0");
      // Before the first row it says that the position is of an earlier life.
      some.ends |= reader.scope.one() && !(isBeginning && !reader.since.equals("0"));
      if (isBeginning) {
        assertThat(reader.scope.one()).as("%s begins again", reader).isTrue();
        reader.beginAnew();
      } else {
        reader.moveTo(at, !reader.scope.one());
        reader.takeLeft(db, at.substring(at.length() - ModelReader.POINT));
      }
    }

    private void takeError(Subscriber some, String text) {
      if (text.contains("There is no subscription of this id")) {
        // What the client wants came when the subscription was over.
        return;
      }
      some.subscribed = false;
      String error = SocketClient.text(ModelPolls.json(text), "error");
      if (error.equals("feed_deleted")) {
        assertThat(some.reader.show.isOfFeed()).as("%s: %s", some.reader, text).isTrue();
        some.reader.beginAnew();
        return;
      }
      assertThat(some.reader.scope.one()).as("%s: %s", some.reader, text).isTrue();
      assertThat(error)
          .as("%s: %s", some.reader, text)
          .matches(it -> it.equals("not_found") || (it.equals("forbidden") && byMember));
    }

    void give(Subscriber some) {
      give(some, 1 + random.nextInt(5));
    }

    void give(Subscriber some, int more) {
      if (some.counts && some.subscribed && client != null) {
        some.credits += more;
        client.send("{\"type\":\"credit\",\"id\":\"" + some.reader.id + "\",\"n\":" + more + "}");
      }
    }

    /** All readers end where they are, and read what is left without being cut. */
    void finish() {
      comeBack();
      client.resume();
      for (Subscriber some : readers.values()) {
        unsubscribe(some);
        while (some.subscribed) {
          take(client.text());
        }
        String end = history.now();
        some.hasCaughtUp = false;
        boolean isShut = byMember && some.reader.scope.one() && !isForMembers(some.reader);
        do {
          if (!some.subscribed) {
            subscribe(some, Long.MAX_VALUE, Long.MAX_VALUE);
          }
          take(client.text());
        } while (isShut ? some.subscribed : !some.hasCaughtUp);
        assertThat(some.hasCaughtUp).as("%s reads", some.reader).isEqualTo(!isShut);
        if (!isShut) {
          some.reader.checkTo(end);
        }
      }
    }

    private boolean isForMembers(ModelReader reader) {
      return databases.get(reader.scope.name()).isForMembers();
    }
  }

  private void create(String name) {
    String shards = "/" + name + "?changes_shards=" + (1 + random.nextInt(3));
    String before = history.now();
    admin.request("PUT", shards).send().expect(201);
    databases.put(name, history.begin(name, before));
    note("made " + name);
    leaves.put(name, new HashMap<>());
    if (random.nextInt(4) > 0) {
      admit(name, true);
    }
    if (random.nextInt(4) == 0) {
      writeMany(name);
    }
    FEEDS.forEach(feed -> define(name, feed));
    pollers.stream()
        .filter(it -> it.reader.scope.includes().test(name))
        .forEach(ModelPolls.Pages::beginAnew);
  }

  private void makeAbsent() {
    if (absent != null) {
      create(absent);
      absent = null;
    }
  }

  private void define(String name, String feed) {
    admin.put("/" + name + "/_feeds/" + feed, DEFINITIONS.get(feed)).expect(201);
  }

  private void admit(String name, boolean members) {
    Life life = databases.get(name);
    admin.admit(name, members ? new String[] {MEMBER} : new String[0]);
    life.admit(members, history.now());
    note("security of " + life);
    if (!members) {
      readers().forEach(it -> it.shut(life));
    }
  }

  /** Gives a right while there is something to read for whoever has few credits. */
  private void grantInTheMidst(String name) {
    admit(name, false);
    for (int i = 0; i < MIDST; i++) {
      edit(someDatabase());
    }
    edit(name);
    for (int i = 0; i < MIDST; i++) {
      edit(someDatabase());
    }
    giveAll(1);
    admit(name, true);
    edit(name);
    giveAll(MIDST);
  }

  private void giveAll(int credits) {
    sockets.forEach(socket -> socket.readers.values().forEach(it -> socket.give(it, credits)));
  }

  /** All readers of sockets. */
  private Stream<ModelReader> readers() {
    return sockets.stream().flatMap(it -> it.readers.values().stream()).map(it -> it.reader);
  }

  private String someDatabase() {
    return List.copyOf(databases.keySet()).get(random.nextInt(databases.size()));
  }

  private void change() {
    String name = someDatabase();
    switch (random.nextInt(30)) {
      case 0 -> {
        String body = "{\"shards\":" + (1 + random.nextInt(4)) + "}";
        admin.put("/" + name + "/_changes/_meta", body);
      }
      case 1 -> {
        if (absent == null) {
          delete(name);
        }
      }
      case 2, 3 -> purge(name);
      case 4, 5, 6, 7 -> burst();
      case 8 -> {
        if (random.nextBoolean()) {
          redefine(name, FEEDS.get(random.nextInt(2)));
        }
      }
      case 9, 10, 11, 12 -> {
        admit(name, !databases.get(name).isForMembers());
        edit(name);
      }
      case 13, 14 -> makeAbsent();
      case 15, 16 -> grantInTheMidst(name);
      default -> edit(name);
    }
    if (random.nextInt(4) == 0) {
      points.add(history.now());
    }
  }

  private void edit(String name) {
    assertThat(post("/" + name + "/_bulk_docs", edits(name))).isEqualTo(201);
  }

  private int post(String target, String body) {
    return admin.request("POST", target).json(body).send().status();
  }

  private void redefine(String name, String feed) {
    admin.request("DELETE", "/" + name + "/_feeds/" + feed).send().expect(200);
    define(name, feed);
    readers().forEach(it -> it.feedRemoved(databases.get(name), feed));
    pollers.stream()
        .filter(it -> it.reader.scope.includes().test(name))
        .forEach(it -> it.feedRemoved(feed));
  }

  private void delete(String name) {
    String before = history.now();
    admin.request("DELETE", "/" + name).send().expect(200);
    Life life = databases.remove(name);
    history.end(life, before);
    note("deleted " + life);
    readers().forEach(it -> it.databaseDeleted(life));
    absent = name;
    if (random.nextBoolean()) {
      makeAbsent();
    }
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
                assertThat(post("/" + name + "/_purge", body)).isEqualTo(201);
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
      int count = 2 + random.nextInt(5);
      ByteArrayOutputStream requests = new ByteArrayOutputStream();
      for (int i = 0; i < count; i++) {
        String body = edits(name);
        Request request = admin.request("POST", "/" + name + "/_bulk_docs").json(body);
        requests.writeBytes(request.bytes());
      }
      writer.write(requests.toByteArray());
      sent.put(writer, count);
    }
    Socket socket = sockets.get(random.nextInt(SOCKETS));
    switch (random.nextInt(4)) {
      case 0 -> socket.cut();
      case 1 -> socket.readers.values().forEach(socket::give);
      default -> {}
    }
    sent.forEach(
        (writer, count) -> {
          for (int i = 0; i < count; i++) {
            writer.read(false).expect(201);
          }
        });
  }

  private void writeMany(String name) {
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < MANY_DOCUMENTS; i++) {
      docs.add(edit(name, "m" + i));
    }
    String body = "{\"new_edits\":false,\"docs\":[" + String.join(",", docs) + "]}";
    assertThat(post("/" + name + "/_bulk_docs", body)).isEqualTo(201);
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
    int count = (int) readers().count();
    if (count < READERS && random.nextInt(3) == 0) {
      Subscriber some = newReader("r" + count, socket.byMember);
      socket.add(some);
      return;
    }
    poll();
    List<Subscriber> readers = List.copyOf(socket.readers.values());
    switch (random.nextInt(12)) {
      case 0 -> socket.cut();
      case 1, 2, 3, 4 -> readers.stream().filter(it -> random.nextInt(3) > 0).forEach(socket::give);
      case 5 -> readers.stream().filter(it -> random.nextInt(4) == 0).forEach(socket::unsubscribe);
      case 6 -> {
        if (random.nextInt(8) == 0) {
          System.gc();
        }
      }
      case 7 -> socket.pauseOrResume();
      default -> sockets.forEach(Socket::takeWhatCame);
    }
  }

  private void poll() {
    switch (random.nextInt(24)) {
      case 0, 1, 2, 3 -> {
        if (pollers.size() < POLLERS) {
          Scope scope = Scope.ofOne(someDatabase(), false);
          ModelReader reader = new ModelReader(history, "p" + pollers.size(), scope, someShow());
          pollers.add(polls.new Pages(reader, random.nextInt(3) > 0));
        }
      }
      case 4 -> polls.readBack(someDatabase(), someShow());
      case 5 -> updates.poll(1 + random.nextInt(4));
      case 6, 7, 8, 9, 10, 11, 12, 13 -> {
        List<ModelPolls.Pages> some =
            pollers.stream().filter(it -> databases.containsKey(it.reader.scope.name())).toList();
        if (!some.isEmpty()) {
          some.get(random.nextInt(some.size())).poll(1 + random.nextInt(4));
        }
      }
      default -> {}
    }
  }

  private Subscriber newReader(String id, boolean byMember) {
    Scope scope = random.nextInt(5) < 2 ? Scope.ofOne(someDatabase(), byMember) : ofMany(byMember);
    ModelReader reader = new ModelReader(history, id, scope, someShowOfSocket());
    reader.beginAnew();
    switch (random.nextInt(4)) {
      case 0 -> reader.beginNow();
      case 1 -> somePoint(scope).ifPresent(reader::beginAt);
      default -> {}
    }
    return new Subscriber(reader, random.nextInt(3) > 0);
  }

  private Show someShow() {
    boolean left = random.nextInt(3) > 0;
    return switch (random.nextInt(9)) {
      case 0, 8 -> Show.EVERYTHING;
      case 1, 2 -> Show.of("s", Set.of(), left);
      case 3, 4 -> Show.of("c", new TreeSet<>(List.of(someChannel(), someChannel())), left);
      default -> Show.of("c", Set.of(someChannel()), left);
    };
  }

  /** What only subscriptions take: some ids in place of a feed, and documents. */
  private Show someShowOfSocket() {
    Show show = someShow();
    Set<String> ids =
        show.isOfFeed() ? Set.of() : new TreeSet<>(List.of(someDocument(), someDocument()));
    return new Show(
        show.feed(),
        show.channels(),
        show.left(),
        random.nextBoolean() ? ids : Set.of(),
        random.nextInt(4) == 0);
  }

  private Scope ofMany(boolean byMember) {
    return random.nextBoolean()
        ? new Scope(false, "\"" + prefix + "*\"", name -> name.startsWith(prefix), byMember)
        : new Scope(
            false,
            "[\"%sa\",\"%sb\"]".formatted(prefix, prefix),
            Set.of(prefix + "a", prefix + "b")::contains,
            byMember);
  }

  private String someChannel() {
    return Content.CHANNELS.get(random.nextInt(Content.CHANNELS.size()));
  }

  /** Returns a position that a reader may have; of a database also one of an earlier life. */
  private Optional<String> somePoint(Scope scope) {
    List<String> known = points;
    if (scope.one()) {
      known = sequences.computeIfAbsent(scope.name(), none -> new ArrayList<>());
      String last = admin.get("/" + scope.name()).member("update_seq");
      if (!last.equals("0")) {
        known.add(last);
      }
    }
    return known.isEmpty()
        ? Optional.empty()
        : Optional.of(known.get(random.nextInt(known.size())));
  }

  @Override
  public void close() {
    history.forget();
    writers.forEach(Connection::close);
    sockets.stream().filter(it -> it.client != null).forEach(it -> it.client.close());
  }

  /** What an admin reads without a socket: page by page, newest first, and what databases do. */
  private static final class ModelPolls {
    private static final List<String> FORMS =
        List.of("normal", "longpoll", "continuous", "eventsource");

    /** Hex digits of a commit's version in a point. */
    private static final int COMMIT = 20;

    private final Member admin;
    private final FeedHistory history;
    private final Random random;

    ModelPolls(Member admin, FeedHistory history, Random random) {
      this.admin = admin;
      this.history = history;
      this.random = random;
    }

    static JsonObject json(String text) {
      return (JsonObject) JsonValue.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<JsonValue> elements(JsonObject object, String member) {
      return ((JsonValue.JsonArray) object.get(member).orElseThrow()).elements();
    }

    private static String textOf(JsonValue value) {
      return ((JsonValue.JsonString) value).value();
    }

    private static String point(JsonObject row) {
      String seq = SocketClient.text(row, "seq");
      return seq.substring(seq.length() - ModelReader.POINT);
    }

    private static String query(Show show) {
      StringBuilder query = new StringBuilder();
      if (show.isOfFeed()) {
        query.append("&filter=_feed/").append(show.feed()).append("&left=").append(show.left());
      }
      for (String channel : show.channels()) {
        query.append("&channel=").append(URLEncoder.encode(channel, StandardCharsets.UTF_8));
      }
      return query.toString();
    }

    private JsonObject get(String target) {
      return json(admin.get(target).body());
    }

    /** Reads newest first in one of the forms, which then ends; sometimes with a limit. */
    private List<JsonObject> newestFirst(String target) {
      String form = FORMS.get(random.nextInt(FORMS.size()));
      List<JsonObject> all = rows(form, target);
      List<String> points = all.stream().map(ModelPolls::point).toList();
      List<String> ordered = new ArrayList<>(new TreeSet<>(points));
      Collections.reverse(ordered);
      assertThat(points).as("%s of %s, newest first", form, target).isEqualTo(ordered);
      // The updates log may be compacted between two reads.
      if (target.contains("/_changes") && random.nextInt(3) == 0) {
        int limit = 1 + random.nextInt(5);
        assertThat(rows(form, target + "&limit=" + limit))
            .as("the first %s rows of %s", limit, all)
            .isEqualTo(all.subList(0, Math.min(limit, all.size())));
      }
      return all;
    }

    private List<JsonObject> rows(String form, String target) {
      String body = admin.get(target + "&descending=true&feed=" + form).body();
      List<JsonObject> rows = new ArrayList<>();
      if (form.equals("normal") || form.equals("longpoll")) {
        assertThat(SocketClient.text(json(body), "last_seq")).as(body).isNotNull();
        elements(json(body), "results").forEach(it -> rows.add((JsonObject) it));
        return rows;
      }
      boolean isEvents = form.equals("eventsource");
      body.lines()
          .filter(line -> line.startsWith(isEvents ? "data: {" : "{"))
          .map(line -> json(line.substring(line.indexOf('{'))))
          .forEach(rows::add);
      if (!isEvents) {
        JsonObject end = rows.remove(rows.size() - 1);
        assertThat(SocketClient.text(end, "last_seq")).as(body).isNotNull();
      }
      rows.removeIf(it -> it.get("seq").isEmpty());
      return rows;
    }

    /** Reads all changes of a database, newest first. */
    void readBack(String name, Show show) {
      ModelReader reader = new ModelReader(history, "back", Scope.ofOne(name, false), show);
      reader.beginAnew();
      List<JsonObject> rows = newestFirst("/" + name + "/_changes?since=0" + query(show));
      for (int i = rows.size() - 1; i >= 0; i--) {
        reader.takeRow(name, rows.get(i));
      }
      reader.checkTo(history.now());
      reader.check();
    }

    /** A client that asks page by page: for a database, or for each of its changes shards. */
    final class Pages {
      final ModelReader reader;
      private final boolean ofShards;

      /** Positions, by the end of the path. */
      private final Map<String, String> positions = new TreeMap<>();

      private final Set<String> read = new TreeSet<>();

      /** Places whose positions are from before the feed was removed. */
      private final Set<String> removed = new TreeSet<>();

      Pages(ModelReader reader, boolean ofShards) {
        this.reader = reader;
        this.ofShards = ofShards;
        beginAnew();
      }

      private String path() {
        return "/" + reader.scope.name() + "/_changes";
      }

      void beginAnew() {
        reader.beginAnew();
        positions.clear();
        read.clear();
        removed.clear();
        if (ofShards) {
          for (JsonValue each : elements(get(path() + "/_meta"), "generations")) {
            List<JsonValue> shards = elements((JsonObject) each, "shards");
            if (positions.isEmpty()) {
              shards.forEach(it -> positions.put("/" + textOf(it), "0"));
            }
          }
        } else {
          positions.put("", "0");
        }
      }

      void feedRemoved(String feed) {
        if (reader.show.feed().equals(feed)) {
          positions.forEach(
              (place, at) -> removed.addAll(at.equals("0") ? Set.of() : Set.of(place)));
        }
      }

      /** Reads a page; returns whether something may follow. */
      boolean poll(int limit) {
        List<String> all = List.copyOf(positions.keySet());
        String place = all.get(random.nextInt(all.size()));
        String target = path() + place + "?limit=" + limit + "&since=" + positions.get(place);
        Answer answer = admin.get(target + query(reader.show));
        assertThat(answer.status()).as("%s", answer).isEqualTo(removed.contains(place) ? 412 : 200);
        if (removed.contains(place)) {
          beginAnew();
          return true;
        }
        JsonObject page = json(answer.body());
        List<JsonValue> rows = elements(page, "results");
        rows.forEach(row -> reader.takeRow(reader.scope.name(), (JsonObject) row));
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
        reader.check();
      }
    }

    /** A client of {@code _db_updates}. */
    final class Updates {
      private final String begun;
      private final List<JsonObject> rows = new ArrayList<>();
      private String since;

      Updates() {
        begun = history.now();
        since = SocketClient.text(get("/_db_updates?since=now&limit=1"), "last_seq");
      }

      /** Reads a page; returns whether something may follow. */
      boolean poll(int limit) {
        JsonObject page = get("/_db_updates?since=" + since + "&limit=" + limit);
        for (JsonValue each : elements(page, "results")) {
          JsonObject row = (JsonObject) each;
          assertThat(point(row)).as("a point of _db_updates").isGreaterThan(since);
          since = point(row);
          rows.add(row);
        }
        return !elements(page, "results").isEmpty();
      }

      void finish() {
        while (poll(100)) {}
        history.lives().forEach(this::check);
        rows.forEach(
            row ->
                assertThat(history.lives()).as("%s", row).anyMatch(life -> mayBeTold(row, life)));
        checkBack();
      }

      private boolean mayBeTold(JsonObject row, Life life) {
        return life.name.equals(SocketClient.text(row, "db_name"))
            && switch (SocketClient.text(row, "type")) {
              case "created" -> life.made.has(point(row));
              case "updated" ->
                  point(row).compareTo(life.made.from()) > 0
                      && (!life.isOver() || point(row).compareTo(life.ended.to()) <= 0);
              case "deleted" -> life.isOver() && life.ended.has(point(row));
              default -> false;
            };
      }

      /**
       * A life's creation and last change are told as long as it lasts, then its end or a later.
       */
      private void check(Life life) {
        List<JsonObject> its =
            rows.stream().filter(it -> life.name.equals(SocketClient.text(it, "db_name"))).toList();
        assertThat(its)
            .as("rows of %s behind %s", life, begun)
            .anyMatch(
                it ->
                    life.isOver()
                        ? SocketClient.text(it, "type").equals("deleted")
                            && point(it).compareTo(life.ended.from()) > 0
                        : SocketClient.text(it, "type").equals("created")
                            && life.made.has(point(it)));
        Optional<String> last =
            life.documents.values().stream()
                .map(it -> it.lastEntry().getValue())
                .filter(it -> !it.isPurge())
                .map(it -> it.at().substring(0, COMMIT))
                .max(String::compareTo);
        last.ifPresent(
            at ->
                assertThat(its)
                    .as("the last change of %s", life.name)
                    .anyMatch(it -> point(it).substring(0, COMMIT).compareTo(at) >= 0));
      }

      /** Newest first, each database comes last what it did last. */
      private void checkBack() {
        Map<String, JsonObject> newest = new TreeMap<>();
        rows.forEach(it -> newest.put(SocketClient.text(it, "db_name"), it));
        Set<String> seen = new HashSet<>();
        for (JsonObject row : newestFirst("/_db_updates?limit=300")) {
          String name = SocketClient.text(row, "db_name");
          if (newest.containsKey(name) && seen.add(name)) {
            assertThat(row).as("the newest of %s", name).isEqualTo(newest.get(name));
          }
        }
        assertThat(seen).isEqualTo(newest.keySet());
      }
    }
  }
}
