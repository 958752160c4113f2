package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.json.JsonValue.JsonObject;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stored feeds: what defines them, what they show, live and not. */
final class StoredFeedTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final AtomicInteger NUMBER = new AtomicInteger();

  private static Store store;
  private static LectusServer server;

  private String db;
  private String name;
  private static final String DEFINITION = "{\"channels\":\"ch\"}";
  private static final Pattern SEQUENCE = Pattern.compile("\"(?:seq|at)\":\"([^\"]*)\"");

  private static final Pattern RESHARDED =
      Pattern.compile("\"resharded\":\\{\"seq\":\"([^\"]*)\",\"shards\":\\[\"([^\"]*)\"");

  /** Number of names of which it is remembered when their feeds were removed. */
  private static final int NAMES = 100;

  private int documents;

  @BeforeAll
  static void start() {
    store = stores.fresh();
    server = LectusServer.start(store);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void create() {
    name = "w" + NUMBER.incrementAndGet();
    db = "/" + name;
    server.put(db);
  }

  private static List<String> ids(Answer answer) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return answer
        .body()
        .lines()
        .filter(line -> line.startsWith("{\"seq\""))
        .map(line -> line.replaceAll(".*\"id\":\"([^\"]*)\".*", "$1") + marks(line))
        .toList();
  }

  private static String marks(String row) {
    return (row.contains("\"deleted\":true") ? " deleted" : "")
        + (row.contains("\"left\":true") ? " left" : "");
  }

  private void define(String feed, String json) {
    server.put(db + "/_feeds/" + feed, json).expect(201);
  }

  private void assertRefused(String feed, String json, String reason) {
    Answer answer = server.put(db + "/_feeds/" + feed, json);
    assertThat(answer.status()).as(answer.body()).isEqualTo(400);
    assertThat(answer.body()).contains(reason);
  }

  private Answer changes(String query) {
    return server.get(db + "/_changes?" + query);
  }

  @Test
  void feeds_are_defined_listed_and_deleted() {
    String definition = "{\"channels\":\"a.b\"}";
    server.get(db + "/_feeds").expect("{\"feeds\":[]}\n");
    define("f", definition);
    assertThat(server.put(db + "/_feeds/f", definition).status()).as("again").isEqualTo(200);
    server.put(db + "/_feeds/f", "{\"channels\":\"b\"}").expect(409);
    define("g", "{\"selector\":{\"a\":1}}");
    server
        .get(db + "/_feeds")
        .expect(
            "{\"feeds\":[{\"name\":\"f\",\"channels\":\"a.b\",\"state\":\"ready\"},"
                + "{\"name\":\"g\",\"selector\":{\"a\":1},\"state\":\"ready\"}]}\n");
    server.delete(db + "/_feeds/f").expect(200);
    server.delete(db + "/_feeds/f").expect(404);
    server.get(db + "/_feeds/f").expect(404);
    assertThat(server.get(db + "/_feeds/g").member("name")).isEqualTo("g");
    changes("filter=_feed/f&channel=x").expect(404);
    server.post(db + "/_feeds/g", "{}").expect(405);
    server.get("/none/_feeds").expect(404);
  }

  @Test
  void what_cannot_be_a_feed_is_refused() {
    assertRefused("_x", "{\"channels\":\"a\"}", "name");
    assertRefused("x".repeat(129), "{\"channels\":\"a\"}", "name");
    define("x".repeat(128), "{\"channels\":\"a\"}");
    assertRefused("x", "{}", "either");
    assertRefused("x", "{\"channels\":\"a\",\"selector\":{}}", "either");
    assertRefused("x", "{\"channels\":1}", "path");
    assertRefused("x", "{\"channels\":\"\"}", "path");
    assertRefused("x", "{\"channels\":\"" + "a".repeat(8_001) + "\"}", "8000");
    define("long", "{\"channels\":\"" + "a".repeat(8_000) + "\"}");
    assertRefused("x", "{\"selector\":{\"$foo\":1}}", "foo");
    assertRefused("x", "{\"selector\":[]}", "object");
    String selector = "{\"selector\":{\"a\":\"" + "b".repeat(8_000 - 8) + "\"}}";
    define("wide", selector);
    assertRefused("x", selector.replace("bb", "bbb"), "8000");
    for (int i = 3; i < 32; i++) {
      define("f" + i, "{\"channels\":\"a\"}");
    }
    assertRefused("x", "{\"channels\":\"a\"}", "32");
  }

  @Test
  void readers_ask_for_channels_within_limits() {
    define("c", "{\"channels\":\"ch\"}");
    define("s", "{\"selector\":{\"a\":1}}");
    server.write(db + "/x", "{\"ch\":\"" + "y".repeat(256) + "\"}");
    assertThat(changes("filter=_feed/c").body()).contains("channel");
    assertThat(changes("filter=_feed/s&channel=x").body()).contains("no channels");
    changes("filter=_feed/none").expect(404);
    assertThat(ids(changes("filter=_feed/c&channel=" + "y".repeat(256)))).containsExactly("x");
    changes("filter=_feed/c&channel=" + "y".repeat(257)).expect(400);
    changes("filter=_feed/c&channel=").expect(400);
    changes("filter=_feed/c" + channels(100)).expect(200);
    assertThat(changes("filter=_feed/c" + channels(101)).body()).contains("100");
    server.post(db + "/_changes?filter=_feed/c", "{\"channels\":[1]}").expect(400);
    changes("filter=_feed/c&channels=1").expect(400);
  }

  private static String channels(int count) {
    return IntStream.range(0, count).mapToObj(i -> "&channel=" + i).collect(Collectors.joining());
  }

  @Test
  void a_document_that_a_feed_cannot_take_is_named() {
    define("c", "{\"channels\":\"ch\"}");
    String hundred = names(100);
    server.write(db + "/ok", "{\"ch\":[" + hundred + ",\"c0\"]}");
    String many = server.write(db + "/many", "{\"ch\":[" + hundred + ",\"z\"]}");
    server.write(db + "/long", "{\"ch\":\"" + "y".repeat(257) + "\"}");
    assertThat(server.get(db + "/_feeds/c").body())
        .contains("\"refused\":[{\"id\":\"long\"", "257 bytes", "{\"id\":\"many\"", "100 channels");
    assertThat(ids(changes("filter=_feed/c&channel=c7"))).containsExactly("ok");
    server.write(db + "/many", "{\"_rev\":\"" + many + "\",\"ch\":[" + hundred + "]}");
    assertThat(server.get(db + "/_feeds/c").body()).doesNotContain("\"many\"");
    assertThat(ids(changes("filter=_feed/c&channel=c7"))).containsExactly("ok", "many");
  }

  private static String names(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "\"c" + i + "\"")
        .collect(Collectors.joining(","));
  }

  @Test
  void a_document_is_in_five_channels_and_leaves_each_once() {
    define("c", "{\"channels\":\"ch\"}");
    String first = server.write(db + "/x", "{\"ch\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}");
    for (String channel : List.of("a", "b", "c", "d", "e")) {
      assertThat(ids(changes("filter=_feed/c&channel=" + channel))).containsExactly("x");
    }
    assertThat(ids(changes("filter=_feed/c&channel=a&channel=e&channels=[\"b\"]")))
        .containsExactly("x");
    String second = server.write(db + "/x", "{\"_rev\":\"" + first + "\",\"ch\":[\"a\"]}");
    server.write(db + "/x", "{\"_rev\":\"" + second + "\",\"ch\":[\"a\"],\"n\":1}");
    assertThat(ids(changes("filter=_feed/c&channel=b"))).isEmpty();
    assertThat(ids(changes("filter=_feed/c&channel=b&left=true"))).containsExactly("x left");
    assertThat(ids(changes("filter=_feed/c&channel=a&left=true"))).containsExactly("x");
    assertThat(changes("filter=_feed/c&channel=b&left=true&include_docs=true").body())
        .contains("\"changes\":[{\"rev\":\"" + second + "\"}],\"left\":true,\"doc\":null}");
    String third = server.get(db + "/x").member("_rev");
    server.write(db + "/x", "{\"_rev\":\"" + third + "\",\"ch\":[\"b\"]}");
    assertThat(ids(changes("filter=_feed/c&channel=b&left=true"))).containsExactly("x");
    assertThat(ids(changes("filter=_feed/c&channel=a&left=true"))).containsExactly("x left");
  }

  @Test
  void a_document_that_moves_among_a_readers_channels_has_its_last_row_alone() {
    define("c", "{\"channels\":\"ch\"}");
    String rev = server.write(db + "/x", "{\"ch\":[\"a\",\"b\"]}");
    rev = server.write(db + "/x", "{\"_rev\":\"" + rev + "\",\"ch\":\"b\"}");
    assertShown("a", "x left");
    assertShown("a&channel=b", "x");

    rev = server.write(db + "/x", "{\"_rev\":\"" + rev + "\",\"ch\":\"b\",\"n\":1}");
    assertShown("a", "x left");
    assertShown("a&channel=b", "x");

    rev = server.write(db + "/x", "{\"_rev\":\"" + rev + "\",\"ch\":\"d\"}");
    assertShown("a&channel=b", "x left");
    assertShown("a&channel=b&channel=d", "x");

    server.delete(db + "/x?rev=" + rev);
    assertShown("a&channel=b", "x left");
    assertShown("a&channel=b&channel=d", "x deleted left");
    assertThat(ids(changes("filter=_feed/c&channel=a&channel=d"))).containsExactly("x deleted");

    server.write(db + "/x", "{\"ch\":\"a\"}");
    assertShown("a&channel=d", "x");
    assertThat(ids(changes("filter=_feed/c&channel=a&channel=d"))).containsExactly("x");
    assertThat(ids(changes("filter=_feed/c&channel=b&channel=d"))).containsExactly("x deleted");
  }

  /** In both orders, and page by page. */
  private void assertShown(String channels, String row) {
    String query = "filter=_feed/c&left=true&channel=" + channels;
    assertThat(ids(changes(query))).containsExactly(row);
    assertThat(ids(changes(query + "&descending=true"))).containsExactly(row);
    assertThat(ids(changes(query + "&limit=1"))).containsExactly(row);
  }

  @Test
  void whoever_reads_a_channel_is_told_of_deletions() {
    define("c", "{\"channels\":\"ch\"}");
    define("s", "{\"selector\":{\"ch\":\"a\"}}");
    String revision = server.write(db + "/x", "{\"ch\":\"a\"}");
    server.delete(db + "/x?rev=" + revision);
    assertThat(ids(changes("filter=_feed/c&channel=a"))).containsExactly("x deleted");
    assertThat(changes("filter=_feed/c&channel=a&include_docs=true").body())
        .contains("\"deleted\":true,\"doc\":{\"_id\":\"x\"", "\"_deleted\":true}");
    assertThat(ids(changes("filter=_feed/s"))).as("as with its selector").isEmpty();
    assertThat(ids(changes("filter=_feed/s&left=true"))).containsExactly("x deleted left");
  }

  @Test
  void live_feeds_hear_of_their_channels_alone() {
    define("c", "{\"channels\":\"ch\"}");
    String feed = db + "/_changes?feed=continuous&heartbeat=60000&filter=_feed/c&left=true";
    try (Connection a = server.request("GET", feed + "&channel=a").open();
        Connection both = server.request("GET", feed + "&channel=a&channel=b").open()) {
      a.readHead();
      both.readHead();
      String revision = server.write(db + "/one", "{\"ch\":\"a\"}");
      assertThat(a.chunkText()).contains("\"one\"");
      assertThat(both.chunkText()).contains("\"one\"");
      server.write(db + "/two", "{\"ch\":\"b\"}");
      assertThat(both.chunkText()).contains("\"two\"");
      server.write(db + "/one", "{\"_rev\":\"" + revision + "\",\"ch\":\"b\"}");
      assertThat(a.chunkText()).contains("\"one\"", "\"left\":true");
      assertThat(both.chunkText()).contains("\"one\"").doesNotContain("left");
      server.write(db + "/none", "{\"ch\":\"c\"}");
      server.write(db + "/three", "{\"ch\":[\"a\",\"b\"]}");
      assertThat(a.chunkText()).contains("\"three\"");
      assertThat(both.chunkText()).contains("\"three\"");
    }
  }

  @Test
  void live_readers_end_as_soon_as_their_feed_is_deleted() {
    define("c", "{\"channels\":\"ch\"}");
    String feed = db + "/_changes?feed=continuous&heartbeat=60000&filter=_feed/c&channel=a";
    try (Connection one = server.request("GET", feed).open();
        Connection all =
            server.request("GET", feed.replace("filter=_feed/c&channel=a", "")).open()) {
      one.readHead();
      all.readHead();
      server.write(db + "/one", "{\"ch\":\"a\"}");
      assertThat(one.chunkText()).contains("\"one\"");
      assertThat(all.chunkText()).contains("\"one\"");
      server.delete(db + "/_feeds/c").expect(200);
      one.readToEnd();
      define("c", "{\"channels\":\"ch\"}");
      server.write(db + "/two", "{\"ch\":\"a\"}");
      assertThat(all.chunkText()).contains("\"two\"");
    }
  }

  @Test
  void the_earliest_departures_of_a_document_that_left_very_many_channels_are_forgotten() {
    define("c", "{\"channels\":\"ch\"}");
    String revision = server.write(db + "/x", "{}");
    for (String group : List.of("a", "b", "c", "")) {
      String channels = group.isEmpty() ? "" : names(100).replace("\"c", "\"" + group);
      revision =
          server.write(db + "/x", "{\"_rev\":\"" + revision + "\",\"ch\":[" + channels + "]}");
    }
    assertThat(ids(changes("filter=_feed/c&channel=a7&left=true"))).isEmpty();
    assertThat(ids(changes("filter=_feed/c&channel=b7&left=true"))).containsExactly("x left");
    assertThat(ids(changes("filter=_feed/c&channel=c7&left=true"))).containsExactly("x left");
    Answer purged = server.post(db + "/_purge", "{\"x\":[\"" + revision + "\"]}");
    assertThat(purged.status()).as(purged.body()).isEqualTo(201);
    assertThat(ids(changes("filter=_feed/c&channel=b7&channel=c7&left=true"))).isEmpty();
  }

  @Test
  void longpoll_and_events_read_stored_feeds() {
    define("s", "{\"selector\":{\"a\":{\"$gt\":1}}}");
    String now = server.get(db).member("update_seq");
    try (Connection feed =
            server
                .request("GET", db + "/_changes?feed=longpoll&filter=_feed/s&since=" + now)
                .open();
        Connection events =
            server.request("GET", db + "/_changes?feed=eventsource&filter=_feed/s").open()) {
      events.readHead();
      server.write(db + "/none", "{\"a\":1}");
      server.write(db + "/some", "{\"a\":2}");
      assertThat(feed.read(false).body()).contains("\"some\"").doesNotContain("\"none\"");
      assertThat(events.chunkText()).contains("data: {", "\"some\"");
    }
  }

  @Test
  void subscriptions_read_stored_feeds_of_one_database_and_of_many() {
    define("c", "{\"channels\":\"ch\"}");
    server.put(db + "x");
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("a", "'db':'" + name + "','feed':'c','channels':['a'],'left':true");
      client.caughtUp("a");
      String revision = server.write(db + "/one", "{\"ch\":\"a\"}");
      client.row("a", "one");
      server.write(db + "/other", "{\"ch\":\"b\"}");
      server.write(db + "/one", "{\"_rev\":\"" + revision + "\"}");
      client.row("a", "one");
      client.unsubscribe("a");
      client.end("a");
      client.subscribe("m", "'db':'" + name + "*','feed':'c','channels':['b']");
      client.row("m", "other");
      client.caughtUp("m");
      server.write(db + "x/y", "{\"ch\":\"b\"}");
      server.write(db + "/z", "{\"ch\":\"b\"}");
      client.row("m", "z");
      client.subscribe("n", "'db':'" + name + "','feed':'none'");
      client.error("n", "not_found", true);
      client.subscribe("n", "'db':'" + name + "','channels':['b']");
      JsonObject message = client.socket().message();
      assertThat(message.toJson()).contains("bad_request");
    }
  }

  @Test
  void a_large_database_is_filled_while_its_feeds_are_read() {
    for (int batch = 0; batch < 3; batch++) {
      int from = 100 * batch;
      String documents =
          IntStream.range(from, from + 100)
              .mapToObj(i -> "{\"_id\":\"d" + i + "\",\"ch\":\"" + i % 50 + "\"}")
              .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
      server.post(db + "/_bulk_docs", documents).expect(201);
    }
    String former = server.get(db + "/d7").member("_rev");
    define("c", "{\"channels\":\"ch\"}");
    List<String> expected =
        ids(server.post(db + "/_changes?filter=_selector", "{\"selector\":{\"ch\":\"7\"}}"));
    assertThat(expected).hasSize(6);
    assertThat(ids(changes("filter=_feed/c&channel=7"))).isEqualTo(expected);
    server.write(db + "/d7", "{\"_rev\":\"" + former + "\",\"ch\":\"8\"}");
    Await.until("it is filled", () -> server.get(db + "/_feeds/c").member("state").equals("ready"));
    assertThat(ids(changes("filter=_feed/c&channel=7")))
        .isEqualTo(expected.stream().filter(id -> !id.equals("d7")).toList());
    assertThat(ids(changes("filter=_feed/c&channel=7&left=true"))).endsWith("d7 left");
    assertThat(ids(changes("filter=_feed/c&channel=8"))).hasSize(7).endsWith("d7");
  }

  @Test
  void shards_are_filtered_too() {
    define("c", "{\"channels\":\"ch\"}");
    server.write(db + "/x", "{\"ch\":\"a\"}");
    server.write(db + "/y", "{\"ch\":\"b\"}");
    String shard =
        server.get(db + "/_changes/_meta").body().replaceAll("(?s).*\\[\"(.*?)\".*", "$1");
    assertThat(ids(server.get(db + "/_changes/" + shard + "?filter=_feed/c&channel=a")))
        .containsExactly("x");
  }

  @Test
  void another_server_that_knew_the_database_writes_entries_and_shows_them() {
    try (LectusServer other = LectusServer.start(store)) {
      other.write(db + "/before", "{\"ch\":\"a\"}");
      define("c", "{\"channels\":\"ch\"}");
      other.write(db + "/x", "{\"ch\":\"a\"}");
      assertThat(ids(changes("filter=_feed/c&channel=a"))).containsExactly("before", "x");
      String query = "/_changes?filter=_feed/c&channel=a&since=now&feed=continuous";
      try (Connection feed = other.request("GET", db + query + "&heartbeat=60000").open()) {
        feed.readHead();
        server.write(db + "/y", "{\"ch\":\"a\"}");
        assertThat(feed.chunkText()).contains("\"y\"");
      }
    }
    try (LectusServer restarted = LectusServer.start(store)) {
      assertThat(ids(restarted.get(db + "/_changes?filter=_feed/c&channel=a")))
          .containsExactly("before", "x", "y");
    }
  }

  @Test
  void nothing_is_left_of_a_document_that_is_purged() {
    define("c", "{\"channels\":\"ch\"}");
    String first = server.write(db + "/x", "{\"ch\":[\"a\",\"b\"]}");
    String second = server.write(db + "/x", "{\"_rev\":\"" + first + "\",\"ch\":\"a\"}");
    assertThat(ids(changes("filter=_feed/c&channel=b&left=true"))).containsExactly("x left");
    Answer purged = server.post(db + "/_purge", "{\"x\":[\"" + second + "\"]}");
    assertThat(purged.status()).as(purged.body()).isEqualTo(201);
    assertThat(ids(changes("filter=_feed/c&channel=a&channel=b&left=true"))).isEmpty();
    assertThat(server.get(db).body()).contains("\"doc_count\":0");
  }

  private void define(String feed) {
    server.put(db + "/_feeds/" + feed, DEFINITION).expect(201);
  }

  private void remove(String feed) {
    server.delete(db + "/_feeds/" + feed).expect(200);
  }

  private void defineAnew(String feed) {
    remove(feed);
    define(feed);
  }

  private void write() {
    server.write(db + "/d" + documents++, "{\"ch\":\"a\"}");
  }

  private String path(String query) {
    return db + "/_changes?filter=_feed/c&channel=a" + query;
  }

  private String position() {
    return server.get(path("")).member("last_seq");
  }

  private String shard() {
    return server.get(db + "/_changes/_meta").body().replaceAll("(?s).*\\[\"(.*?)\".*", "$1");
  }

  /** Returns the status of each form of the feed from a position. */
  private Map<String, Integer> statuses(String since, boolean left) {
    String mark = left ? "&left=true" : "";
    String from = mark + "&since=" + since;
    Map<String, Integer> statuses = new TreeMap<>();
    statuses.put("normal", server.get(path(from)).status());
    statuses.put("a page", server.get(path(from + "&limit=1")).status());
    statuses.put("until", server.get(path(from + "&until=now")).status());
    statuses.put("a body", server.post(path(from), "{}").status());
    String ofShard = path(from).replace("_changes", "_changes/" + shard());
    statuses.put("a shard", server.get(ofShard).status());
    for (String form : List.of("longpoll", "continuous", "eventsource")) {
      statuses.put(form, status(server.request("GET", path(from + "&feed=" + form))));
    }
    Request again = server.request("GET", path(mark + "&feed=eventsource"));
    statuses.put("a browser", status(again.header("Last-Event-ID", since)));
    statuses.put(
        "a socket",
        status(
            server.request(
                "GET",
                path(from + "&feed=continuous"),
                "Connection",
                "Upgrade",
                "Upgrade",
                "websocket",
                "Sec-WebSocket-Version",
                "13",
                "Sec-WebSocket-Key",
                "dGhlIHNhbXBsZSBub25jZQ==")));
    return statuses;
  }

  private static int status(Request request) {
    try (Connection connection = request.open()) {
      return connection.readHead().status();
    }
  }

  private void assertTold(String since) {
    for (boolean left : new boolean[] {false, true}) {
      assertThat(statuses(since, left))
          .hasSize(10)
          .allSatisfy((form, status) -> assertThat(status).as(form).isEqualTo(412));
      try (Conversation client = Conversation.with(server)) {
        subscribe(client, name, since, left);
        client.error("s", "feed_deleted", true);
      }
    }
    assertThat(server.get(path("&since=" + since)).body()).contains("\"feed_deleted\"");
  }

  private void assertGoesOn(String since) {
    for (boolean left : new boolean[] {false, true}) {
      assertThat(statuses(since, left))
          .allSatisfy((form, status) -> assertThat(status).as(form).isIn(200, 101));
      try (Conversation client = Conversation.with(server)) {
        subscribe(client, name, since, left);
        assertThat(client.socket().text()).contains("\"type\":\"caught_up\"");
      }
    }
  }

  /**
   * @param databases a name or a pattern
   */
  private static void subscribe(Conversation client, String databases, String since, boolean left) {
    client.subscribe(
        "s",
        "'db':'%s','feed':'c','channels':['a'],'since':'%s','left':%s"
            .formatted(databases, since, left));
  }

  private static List<String> positions(String text) {
    return SEQUENCE.matcher(text).results().map(it -> it.group(1)).toList();
  }

  @Test
  void who_comes_from_before_a_removal_is_told_and_who_begins_behind_it_goes_on() {
    define("c");
    write();
    write();
    List<String> former = new ArrayList<>(positions(server.get(path("")).body()));
    former.add(position());
    defineAnew("c");
    former.forEach(this::assertTold);

    Answer all = server.get(path(""));
    List<String> rows = positions(all.body());
    assertThat(rows).hasSize(2);
    assertGoesOn(all.member("last_seq"));
    assertThat(positions(server.get(path("&since=" + rows.get(0))).body()))
        .as("the documents are older than the feed")
        .isEqualTo(rows.subList(1, 2));
    assertGoesOn(rows.get(1));
    assertGoesOn("now");
    assertGoesOn(server.get(path("&since=now")).member("last_seq"));
    write();
    String last = position();
    assertThat(last).as("nothing is to be said of what came later").doesNotContain("-");
    assertGoesOn(last);
    defineAnew("c");
    rows.forEach(this::assertTold);
    assertTold(all.member("last_seq"));
    assertTold(last);
  }

  @Test
  void a_feed_that_is_gone_is_one_that_was_removed() {
    define("c");
    write();
    String position = position();
    remove("c");
    assertTold(position);
    server.get(path("")).expect(404);
  }

  @Test
  void other_feeds_go_on() {
    define("c");
    define("other");
    write();
    String position = position();
    defineAnew("other");
    assertGoesOn(position);
  }

  @Test
  void readers_of_shards_go_on_in_those_that_replaced_them() {
    define("c");
    write();
    String replaced = shard();
    server.put(db + "/_changes/_meta", "{\"shards\":2}");
    defineAnew("c");
    String body = server.get(path("").replace("_changes", "_changes/" + replaced)).body();
    Matcher next = RESHARDED.matcher(body);
    assertThat(next.find()).as(body).isTrue();
    String target =
        path("&since=" + next.group(1)).replace("_changes", "_changes/" + next.group(2));
    server.get(target).expect(200);
  }

  @Test
  void a_new_life_of_the_database_begins_at_its_beginning() {
    define("c");
    write();
    String position = position();
    remove("c");
    server.delete(db);
    server.put(db);
    define("c");
    server.get(path("&since=" + position)).expect(200);
    defineAnew("c");
    server.get(path("&since=" + position)).expect(200);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_reader_of_many_databases_that_was_cut_knows_what_was_removed_when_it_began(boolean left) {
    define("c");
    for (int i = 0; i < 4; i++) {
      write();
    }
    defineAnew("c");
    String at;
    try (Conversation client = Conversation.with(server)) {
      subscribe(client, name + "*", "0", left);
      at = client.row("s", "d0");
    }
    try (Conversation client = Conversation.with(server)) {
      subscribe(client, name + "*", at, left);
      at = client.row("s", "d1");
    }
    defineAnew("c");
    try (Conversation client = Conversation.with(server)) {
      subscribe(client, name + "*", at, left);
      client.error("s", "feed_deleted", true);
    }
  }

  @Test
  void names_that_are_not_remembered_count_as_removed() {
    define("c");
    write();
    String first = position();
    for (int i = 0; i < NAMES; i++) {
      define("f" + i);
      remove("f" + i);
      if (i == 0) {
        write();
      }
    }
    String second = position();
    assertThat(refuses("c", first)).as("it was never removed").isFalse();
    define("new");
    assertThat(refuses("new", first)).as("no name is forgotten yet").isFalse();
    define("f0");
    assertThat(refuses("f0", first)).isTrue();
    assertThat(refuses("f0", second)).isFalse();
    define("f" + NAMES);
    remove("f" + NAMES);
    assertThat(refuses("c", first)).as("it was never removed").isFalse();
    assertThat(refuses("f0", first)).as("it was defined before that").isTrue();
    assertThat(refuses("f0", second)).isFalse();
    define("newer");
    assertThat(refuses("newer", first)).as("it may have been removed").isTrue();
    assertThat(refuses("newer", second)).isFalse();
    define("f1");
    assertThat(refuses("f1", second)).as("it is remembered").isTrue();
  }

  private boolean refuses(String feed, String since) {
    int status = server.get(path("&since=" + since).replace("/c&", "/" + feed + "&")).status();
    assertThat(status).isIn(200, 412);
    return status == 412;
  }

  @ParameterizedTest
  @ValueSource(strings = {"-", "0-", "g-", "-1-", "01-", "1-1-", "1234567890abcdef-"})
  void what_no_feed_returned_is_refused(String head) {
    define("c");
    write();
    server.get(path("&since=" + head + position())).expect(400);
    server.get("/_db_updates?since=" + head + "0".repeat(24)).expect(400);
    String at = position();
    server.get(path("&since=" + at + "-" + at)).expect(200);
    String later = at.substring(0, 2) + "7f" + at.substring(4);
    assertThat(server.get(path("&since=" + later + "-" + at)).body()).contains("future");
    String ofLaterIncarnation = "1501" + at.substring(2);
    assertThat(server.get(path("&since=" + ofLaterIncarnation + "-" + at)).body())
        .contains("future");
  }
}
