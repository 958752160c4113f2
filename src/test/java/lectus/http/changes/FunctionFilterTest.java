package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.config.ScriptKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Feeds that functions of design documents filter. */
final class FunctionFilterTest {
  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");

  private static final String DESIGN =
      """
      {"filters":{
        "big":"function(doc, req) { return doc.n >= (req.query.least || 2); }",
        "conflicts":"function(doc) { return doc._conflicts && doc._conflicts.length === 1; }",
        "leaf":"function(doc) { return doc.side === 'left'; }",
        "revisions":"function(doc) { return doc._revisions.start === 2 && doc._revisions.ids.length === 2; }",
        "gone":"function(doc) { return doc._deleted; }",
        "user":"function(doc, req) { return req.userCtx.roles[0] === '_admin' && req.userCtx.db === 'w'; }",
        "mine":"function(doc, req) { return doc._id === req.headers['X-Mine']; }",
        "since":"function(doc, req) { return doc.n > 4 && req.query.since === 'now' && req.query.heartbeat === req.query.twice; }",
        "dice":"function(doc) { return Math.random() < 0.5; }",
        "ownDice":"function(doc, req) { return req.uuid && Math.random() < 0.5; }",
        "fails":"function(doc) { if (doc._id === 'c') { throw new Error('not c'); } return true; }",
        "forbids":"function(doc) { throw {forbidden: 'no'}; }",
        "broken":"function(doc) {",
        "endless":"function(doc) { while (doc._id === 'c') {} return true; }",
        "bomb":"function(doc) { if (doc._id !== 'c') return true; var a = []; while (true) { a.push(new Array(100000).join(doc._id)); } }"},
       "views":{"even":{"map":"function(doc) { if (doc.n % 2 === 0) { emit(doc.n); } }"}}}
      """
          .replace("\n", " ");

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    fill(server);
  }

  private static void fill(LectusServer server) {
    server.put("/w");
    server.put("/w/_design/d", DESIGN);
    for (int n = 1; n <= 4; n++) {
      server.write("/w/" + "abcd".charAt(n - 1), "{\"n\":" + n + "}");
    }
  }

  /** A server that ends what never ends soon. */
  private static LectusServer impatient() {
    LectusServer impatient =
        LectusServer.start(stores.fresh(), new TestSettings().with(ScriptKeys.TIMEOUT_SECONDS, 2));
    fill(impatient);
    return impatient;
  }

  private static void write(String id, int n) {
    server.write("/w/" + id, "{\"n\":" + n + "}");
  }

  private static Request feed(String query) {
    return feed(server, query);
  }

  private static Request feed(LectusServer of, String query) {
    return of.request("GET", "/w/_changes?" + query);
  }

  private static String ids(String body) {
    List<String> ids = new ArrayList<>();
    for (Matcher row = ID.matcher(body); row.find(); ) {
      ids.add(row.group(1));
    }
    return String.join(" ", ids);
  }

  @ParameterizedTest
  @CsvSource({
    "filter=d/big, b c d",
    "filter=d/big&least=4, d",
    "filter=d/big&limit=2, b c",
    "filter=d/big&descending=true, d c b",
    "filter=d/big&descending=true&limit=1, d",
    "filter=_view&view=d/even, b d",
    "filter=d/user, _design/d a b c d",
    "filter=d/mine, b",
  })
  void the_rows_are_those_that_the_function_wants(String query, String wanted) {
    for (String form : new String[] {"normal", "longpoll", "continuous&timeout=500"}) {
      Answer answer = feed(query + "&feed=" + form).header("X-Mine", "b").send().expect(200);
      assertThat(ids(answer.body())).as(form).isEqualTo(wanted);
    }
    Answer posted =
        server
            .request("POST", "/w/_changes?" + query, "X-Mine", "b")
            .json("{\"of\":\"a function\"}")
            .send();
    assertThat(ids(posted.body())).isEqualTo(wanted);
  }

  @Test
  void a_normal_feed_ends_where_the_database_is_and_counts_what_follows_a_limit() {
    String last = server.get("/w").member("update_seq");
    assertThat(feed("filter=d/big&least=9").send().body())
        .isEqualTo("{\"results\":[\n\n],\n\"last_seq\":\"" + last + "\",\"pending\":0}\n");
    assertThat(feed("filter=d/big&limit=1").send().body()).endsWith(",\"pending\":2}\n");
    assertThat(feed("filter=d/big&limit=0").send().body()).endsWith(",\"pending\":5}\n");
    assertThat(feed("filter=d/big&until=now").send().member("last_seq")).isEqualTo(last);
  }

  @ParameterizedTest
  @ValueSource(strings = {"conflicts", "leaf", "revisions", "gone"})
  void the_function_sees_documents_as_in_couchdb(String filter) {
    server.write("/w/x?new_edits=false", "{\"_rev\":\"1-aa\",\"side\":\"left\"}");
    server.write("/w/x?new_edits=false", "{\"_rev\":\"1-bb\",\"side\":\"right\"}");
    String rev = server.write("/w/y", "{}");
    server.write("/w/y?rev=" + rev, "{}");
    String third = server.write("/w/z", "{}");
    server.delete("/w/z?rev=" + third);

    String winners = ids(feed("filter=d/" + filter).send().body());
    String leaves = feed("filter=d/" + filter + "&style=all_docs&include_docs=true").send().body();
    switch (filter) {
      case "conflicts" -> {
        assertThat(winners).isEqualTo("x");
        assertThat(ids(leaves)).isEmpty();
      }
      case "leaf" -> {
        assertThat(winners).isEmpty();
        assertThat(leaves)
            .contains("\"changes\":[{\"rev\":\"1-aa\"}],\"doc\":{\"_id\":\"x\",\"_rev\":\"1-bb\"");
      }
      case "revisions" -> assertThat(winners).isEqualTo("y z");
      default -> assertThat(winners).isEqualTo("z");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "filter=x/f, missing",
    "filter=d/x, missing json key: x",
    "filter=_view&view=d/x, missing json key: x",
  })
  void what_is_not_there_is_404_before_the_feed_begins(String query, String reason) {
    for (String form : new String[] {"normal", "continuous", "eventsource"}) {
      Answer answer = feed(query + "&feed=" + form).send().expect(404);
      assertThat(answer.member("reason")).isEqualTo(reason);
      server.head("/w/_changes?" + query + "&feed=" + form).expect(404);
    }
    server.head("/w/_changes?filter=d/big").expect(200);
  }

  @ParameterizedTest
  @CsvSource({
    "broken, 500, compilation_error",
    "forbids, 403, forbidden",
  })
  void a_failure_before_the_first_row_is_the_answer(String filter, int status, String error) {
    Answer answer = feed("filter=d/" + filter).send().expect(status);
    assertThat(answer.member("error")).isEqualTo(error);
  }

  @Test
  void a_failure_ends_the_feed_behind_the_rows_before_it() {
    String end = "\"error\":\"Error\",\"reason\":\"not c\"";
    assertThat(feed("filter=d/fails&feed=longpoll").send().body())
        .contains("\"id\":\"b\"")
        .contains(end);
    String lines = feed("filter=d/fails&feed=continuous").send().body();
    assertThat(ids(lines)).isEqualTo("_design/d a b");
    assertThat(lines).contains("\n{" + end);
    assertThat(feed("filter=d/fails&feed=eventsource").send().body())
        .contains("event: error\ndata: {" + end);
  }

  @Test
  void others_go_on_beside_a_function_that_fails() {
    assertOthersGoOn(server, "fails", "Error");
  }

  /** Where others are busy, one that takes memory may take time first. */
  @ParameterizedTest
  @ValueSource(strings = {"endless", "bomb"})
  void others_go_on_beside_a_function_that_takes_too_much(String filter) {
    try (LectusServer impatient = impatient()) {
      assertOthersGoOn(impatient, filter, "function_failed");
    }
  }

  private static void assertOthersGoOn(LectusServer server, String filter, String error) {
    String query = "filter=d/" + filter;
    assertThat(feed(server, query).send().body())
        .contains("\"id\":\"b\"", "\"error\":\"" + error + "\"")
        .endsWith("}\n");
    assertThat(ids(feed(server, query + "&limit=3").send().body())).isEqualTo("_design/d a b");
    assertThat(ids(feed(server, "filter=d/big").send().body())).isEqualTo("b c d");
  }

  @Test
  void a_failure_reaches_listeners_that_wait() {
    try (Connection one = listening("fails", "");
        Connection other = listening("fails", "");
        Connection plain = listening("big", "")) {
      write("e", 5);
      assertThat(one.chunkText()).contains("\"id\":\"e\"");
      assertThat(other.chunkText()).contains("\"id\":\"e\"");
      assertThat(plain.chunkText()).contains("\"id\":\"e\"");
      server.write("/w/c?rev=" + server.get("/w/c").member("_rev"), "{\"n\":7}");
      String error = "{\"error\":\"Error\",\"reason\":\"not c\"}\n";
      assertThat(one.chunkText()).isEqualTo(error);
      assertThat(other.chunkText()).isEqualTo(error);
      assertThat(plain.chunkText()).contains("\"id\":\"c\"");
    }
  }

  private static Connection listening(String filter, String mine) {
    return listening(server, filter, mine);
  }

  private static Connection listening(LectusServer at, String filter, String mine) {
    Connection feed =
        feed(at, "filter=d/" + filter + "&feed=continuous&since=now").header("X-Mine", mine).open();
    feed.readHead().expect(200);
    return feed;
  }

  /** Two runs of a function that throws dice would hardly agree on forty documents. */
  @Test
  void listeners_share_what_the_function_says() {
    try (Connection one = listening("dice", "x");
        Connection other = listening("dice", "y")) {
      Await.until("they share a tail", () -> server.figure("lectus_feed_tails") == 1);
      writeForty();
      assertThat(idsUpToZ(one)).isEqualTo(idsUpToZ(other));
    }
    try (Connection one = listening("big&least=1", "x");
        Connection other = listening("big&least=2", "x")) {
      Await.until("each has its own", () -> server.figure("lectus_feed_tails") == 2);
      write("e", 5);
      assertThat(one.chunkText()).contains("\"id\":\"e\"");
      assertThat(other.chunkText()).contains("\"id\":\"e\"");
    }
  }

  /** The last document comes again and again until the dice let it through. */
  private static void writeForty() {
    for (int i = 0; i < 40; i++) {
      write("f" + i, i);
    }
    String rev = "";
    for (int i = 0; i < 30; i++) {
      rev = server.write("/w/z" + (rev.isEmpty() ? "" : "?rev=" + rev), "{}");
    }
  }

  private static List<String> idsUpToZ(Connection feed) {
    StringBuilder rows = new StringBuilder();
    while (!rows.toString().contains("\"id\":\"z\"")) {
      rows.append(feed.chunkText());
    }
    return List.of(ids(rows.toString()).split(" ")).stream()
        .filter(id -> id.startsWith("f"))
        .toList();
  }

  @Test
  void a_function_that_looks_at_headers_runs_for_its_listener_alone() {
    try (Connection one = listening("mine", "e");
        Connection other = listening("mine", "f")) {
      write("e", 1);
      write("f", 1);
      write("e2", 1);
      assertThat(ids(one.chunkText())).isEqualTo("e");
      assertThat(ids(other.chunkText())).isEqualTo("f");
      Await.until("nothing is shared", () -> server.figure("lectus_feed_tails") == 0);
      server.write("/w/e?rev=" + server.get("/w/e").member("_rev"), "{}");
      assertThat(ids(one.chunkText())).isEqualTo("e");
    }
  }

  /** Two listeners that read in different ways, and a function that looks at how. */
  @Test
  void a_function_that_looks_at_how_a_feed_is_read_runs_for_its_listener_alone() {
    try (Connection one = listening("since&heartbeat=60000&twice=60000", "");
        Connection other = listening("since&heartbeat=50000&twice=60000", "");
        Connection third = listening("since&heartbeat=70000&twice=60000", "")) {
      Await.until("they share a tail", () -> server.figure("lectus_feed_tails") == 1);
      write("e", 5);
      assertThat(ids(one.chunkText())).isEqualTo("e");
      Await.until("nothing is shared", () -> server.figure("lectus_feed_tails") == 0);
      server.delete("/w");
      assertThat(other.chunkText()).startsWith("{\"last_seq\"");
      assertThat(third.chunkText()).startsWith("{\"last_seq\"");
    }
  }

  /** Memory counts as long as somebody needs it, and is refused to others meanwhile. */
  @Test
  void what_feeds_hold_is_counted_and_given_back() {
    try (LectusServer impatient = impatient()) {
      assertCountedAndGivenBack(impatient);
    }
  }

  private static void assertCountedAndGivenBack(LectusServer server) {
    try (Connection one = listening(server, "endless", "");
        Connection other = listening(server, "big", "")) {
      Await.until("a design document", () -> held(server, "filters") > DESIGN.length());
      assertThat(held(server, "filters")).isLessThan(2L * DESIGN.length());
      server.write("/w/c?rev=" + server.get("/w/c").member("_rev"), "{\"n\":7}");
      Await.until("a page of documents", () -> held(server, "pages") > 0);
      // A feed without a function does not wait for others' functions.
      assertThat(ids(server.get("/w/_changes").body())).contains("c");
      assertThat(other.chunkText()).contains("\"id\":\"c\"");
      assertThat(one.chunkText()).contains("function_failed");
    }
    try (Connection feed = feed(server, "filter=d/endless&feed=continuous").open()) {
      feed.readHead().expect(200);
      Await.until("a page of documents", () -> held(server, "pages") > 0);
    }
    Await.until("nothing", () -> held(server, "filters") + held(server, "pages") == 0);
  }

  private static long held(LectusServer server, String account) {
    return server.figure("lectus_memory_bytes{account=\"" + account + "\"}");
  }

  @Test
  void design_documents_that_take_too_much_memory_are_refused() {
    try (LectusServer small =
        LectusServer.start(stores.fresh(), new TestSettings().filterMemoryBytes(1 << 20))) {
      small.put("/w");
      String text = "x".repeat(700_000);
      for (String name : new String[] {"p", "q"}) {
        String design =
            "{\"filters\":{\"f\":\"function() { return true; }\"},\"t\":\"" + text + "\"}";
        small.put("/w/_design/" + name, design).expect(201);
      }
      try (Connection one = small.request("GET", "/w/_changes?filter=p/f&feed=continuous").open();
          Connection again =
              small.request("GET", "/w/_changes?filter=p/f&feed=continuous").open()) {
        one.readHead().expect(200);
        again.readHead().expect(200);
        small.get("/w/_changes?filter=q/f").expect(503);
      }
      Await.until(
          "there is room", () -> small.get("/w/_changes?filter=q/f&limit=1").status() == 200);
    }
  }

  /** What is asked about more documents than fit a page goes on where it was. */
  @Test
  void a_rare_document_is_found_among_many() {
    StringBuilder docs = new StringBuilder("{\"docs\":[");
    for (int i = 0; i < 1_000; i++) {
      docs.append("{\"_id\":\"m").append(i).append("\",\"n\":0},");
    }
    server.post("/w/_bulk_docs", docs + "{\"_id\":\"rare\",\"n\":100}]}");

    assertThat(ids(feed("filter=d/big&least=50").send().body())).isEqualTo("rare");
    assertThat(ids(feed("filter=d/big&least=50&feed=longpoll").send().body())).isEqualTo("rare");
    assertThat(ids(feed("filter=d/big&least=50&limit=1").send().body())).isEqualTo("rare");
    assertThat(ids(feed("filter=d/big&least=50&descending=true").send().body())).isEqualTo("rare");
  }

  /** A change of the function counts for feeds that begin then. */
  @Test
  void a_feed_keeps_the_function_with_which_it_began() {
    try (Connection former = listening("big", "")) {
      String rev = server.get("/w/_design/d").member("_rev");
      server.write(
          "/w/_design/d?rev=" + rev,
          "{\"filters\":{\"big\":\"function(doc) { return doc.n === 0; }\"}}");
      write("zero", 0);
      write("nine", 9);
      assertThat(ids(former.chunkText())).isEqualTo("nine");
      assertThat(ids(feed("filter=d/big").send().body())).isEqualTo("zero");
    }
  }

  @Test
  void a_client_that_leaves_ends_its_work() {
    try (Connection feed = feed("filter=d/endless&feed=continuous").open()) {
      feed.readHead().expect(200);
    }
    Await.until("the feed is closed", () -> server.figure("lectus_feed_listeners") == 0);
    assertThat(ids(feed("filter=d/big").send().body())).isEqualTo("b c d");
  }

  @Test
  void shards_and_sockets_have_filters_too() {
    String shard =
        server.get("/w/_changes/_meta").body().replaceAll("(?s).*\\[\"([^\"]*)\".*", "$1");
    assertThat(ids(server.get("/w/_changes/" + shard + "?filter=d/big").body())).isEqualTo("b c d");
    try (SocketClient socket =
        SocketClient.connect(server, "/w/_changes?filter=d/big&feed=continuous")) {
      assertThat(socket.text()).contains("\"id\":\"b\"");
    }
    try (SocketClient socket =
        SocketClient.connect(server, "/w/_changes?filter=d/fails&since=now&feed=continuous")) {
      server.write("/w/c?rev=" + server.get("/w/c").member("_rev"), "{}");
      assertThat(socket.closeCode()).isEqualTo(1011);
      assertThat(socket.closeReason()).isEqualTo("not c");
    }
  }

  @Test
  void subscriptions_have_filters() {
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("a", "'db':'w','filter':'d/big','query':{'least':4}");
      client.row("a", "d");
      client.caughtUp("a");
      client.subscribe("b", "'db':'w','filter':'_view','view':'d/even'");
      client.row("b", "b");
      client.row("b", "d");
      client.caughtUp("b");
      client.subscribe("c", "'db':'w','filter':'d/x'");
      client.error("c", "not_found", true);
      client.subscribe("d", "'db':'w*','filter':'d/big'");
      client.error("d", "bad_request", true);
      client.subscribe("e", "'db':'w','filter':'_doc_ids'");
      client.error("e", "bad_request", true);
      client.subscribe("f", "'db':'w','filter':'d/broken'");
      client.error("f", "compilation_error", true);
    }
  }

  /** Who writes design documents must not get the secrets of those who read. */
  @Test
  void a_function_sees_the_request_but_no_passwords() {
    Answer answer;
    try (LectusServer guarded = LectusServer.start(stores.fresh())) {
      guarded.put("/w");
      guarded.write(
          "/w/_design/e",
          "{\"filters\":{\"shows\":\"function(doc, req) {"
              + " throw {error: 'seen', reason: JSON.stringify(req)}; }\"}}");
      guarded.put("/_node/_local/_config/admins/root", "\"password\"");
      String session =
          guarded
              .post("/_session", "{\"name\":\"root\",\"password\":\"password\"}")
              .header("set-cookie")
              .replaceAll(";.*", "");
      answer =
          guarded
              .request(
                  "POST",
                  "/w/_changes?filter=e/shows&key=%5B1%5D&x=y",
                  "Cookie",
                  "a=b; " + session,
                  "X-Auth-CouchDB-Token",
                  "secret",
                  "x-any",
                  "thing")
              .json("{\"p\":1}")
              .send();
    }
    assertThat(answer.member("error")).isEqualTo("seen");
    JsonObject seen = (JsonObject) JsonValue.parse(answer.body().getBytes(StandardCharsets.UTF_8));
    assertThat(SocketClient.text(seen, "reason"))
        .contains("\"method\":\"POST\"", "\"path\":[\"w\",\"_changes\"]", "\"id\":null")
        .contains("\"requested_path\":[\"w\",\"_changes\"]", "\"peer\":\"127.0.0.1\"")
        .contains("\"raw_path\":\"/w/_changes?filter=e/shows&key=%5B1%5D&x=y\"")
        .contains("\"query\":{\"filter\":\"e/shows\",\"key\":[1],\"x\":\"y\"}")
        .contains("\"body\":\"{\\\"p\\\":1}\"", "\"form\":{}", "\"cookie\":{\"a\":\"b\"}")
        .contains("\"X-Any\":\"thing\"", "\"db_name\":\"w\"", "\"uuid\":\"")
        .contains("\"userCtx\":{\"db\":\"w\",\"name\":\"root\",\"roles\":[\"_admin\"]}")
        .contains("\"secObj\":{\"members\":{\"roles\":[\"_admin\"]}")
        .doesNotContain("secret", "AuthSession");
  }
}
