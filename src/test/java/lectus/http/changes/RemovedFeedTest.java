package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever resumes from before a stored feed was removed is told, in every form of the feed. */
final class RemovedFeedTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final String DEFINITION = "{\"channels\":\"ch\"}";
  private static final Pattern SEQUENCE = Pattern.compile("\"(?:seq|at)\":\"([^\"]*)\"");

  private static final Pattern RESHARDED =
      Pattern.compile("\"resharded\":\\{\"seq\":\"([^\"]*)\",\"shards\":\\[\"([^\"]*)\"");

  /** Number of names of which it is remembered when their feeds were removed. */
  private static final int NAMES = 100;

  private static LectusServer server;

  private String name;
  private String db;
  private int documents;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void create() {
    name = "removed" + NUMBER.incrementAndGet();
    db = "/" + name;
    server.put(db);
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
