package lectus.http.changes;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.changes.page.NormalFeed;
import lectus.database.Sequence;
import lectus.database.ShardTopology.HashScheme;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.WatchedStore;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code _changes}, the normal feed. */
final class ChangesResourceTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  @Test
  void rows_come_in_the_order_of_updates() {
    String a = server.write("/w/a", "{}");
    String b = server.write("/w/b", "{}");
    String gone = server.delete("/w/a?rev=" + a).member("rev");

    Answer feed = server.get("/w/_changes").expect(200);
    assertThat(feed.isChunked()).isTrue();
    String last = feed.member("last_seq");
    assertThat(feed.body())
        .matches(
            json("\\{'results':\\[\n"
                    + "\\{'seq':'[0-9a-f]+','id':'b','changes':\\[\\{'rev':'%s'}]},\r\n"
                    + "\\{'seq':'%s','id':'a','changes':\\[\\{'rev':'%s'}],'deleted':true}\n"
                    + "],\n"
                    + "'last_seq':'%s','pending':0}\n")
                .formatted(b, last, gone, last));
    assertThat(server.get("/w").member("update_seq")).isEqualTo(last);
    server
        .get("/w/_changes?since=" + last)
        .expect(json("{'results':[\n\n],\n'last_seq':'%s','pending':0}\n").formatted(last));
    server
        .get("/w/_changes?since=%22" + last + "%22")
        .expect(server.get("/w/_changes?since=now").body());
    assertThat(server.get("/w/_changes?limit=1").body()).endsWith("\"pending\":1}\n");
    assertThat(server.get("/w/_changes?LIMIT=1").body())
        .as("names in any case")
        .isEqualTo(server.get("/w/_changes?limit=1").body());
    assertThat(server.get("/w/_changes?limit=0").body())
        .endsWith("\"pending\":2}\n")
        .isEqualTo(server.get("/w/_changes?descending=true&limit=0").body());
    assertThat(server.get("/w/_changes?descending=true&limit=1").body()).contains("\"id\":\"a\"");
    String highest = "187fffffff" + "f".repeat(24);
    server
        .get("/w/_changes?descending=true&since=" + highest)
        .expect(server.get("/w/_changes?descending=true").body());
    assertThat(server.head("/w/_changes").header("content-length")).isNull();
  }

  @Test
  void if_none_match_saves_a_feed_that_has_not_moved() {
    Answer empty = server.get("/w/_changes");
    changesUnlike(empty, "GET").expect(304);
    String a = server.write("/w/a", "{}");
    changesUnlike(empty, "GET").expect(200);

    Answer feed = server.get("/w/_changes");
    Answer same = changesUnlike(feed, "GET").expect(304);
    assertThat(same.body()).isEmpty();
    assertThat(same.header("etag")).isEqualTo(feed.header("etag")).isNotNull();
    changesUnlike(feed, "HEAD").expect(304);
    assertThat(server.head("/w/_changes").header("etag")).isEqualTo(feed.header("etag"));
    assertThat(server.get("/w/_changes?since=now&limit=3").header("etag"))
        .as("of the state, not of the rows")
        .isEqualTo(feed.header("etag"));

    server.delete("/w/a?rev=" + a);
    assertThat(changesUnlike(feed, "GET").body()).contains("\"deleted\":true");
    server.delete("/w");
    changesUnlike(feed, "GET").expect(404);
  }

  private Answer changesUnlike(Answer seen, String method) {
    return server.request(method, "/w/_changes", "If-None-Match", seen.header("etag")).send();
  }

  @Test
  void what_depends_on_a_body_or_goes_on_has_no_tag() {
    assertThat(server.post("/w/_changes", "{}").headers()).doesNotContainKey("etag");
    assertThat(server.get("/w/_changes?feed=longpoll&timeout=1").headers())
        .doesNotContainKey("etag");
  }

  @Test
  void all_leaves_and_documents_come_on_demand() {
    server.write("/w/a?new_edits=false", "{\"_rev\":\"2-b\",\"v\":1}");
    server.write("/w/a?new_edits=false", "{\"_rev\":\"1-c\"}");

    assertThat(server.get("/w/_changes?style=all_docs").body())
        .contains("\"changes\":[{\"rev\":\"2-b\"},{\"rev\":\"1-c\"}]");
    assertThat(server.get("/w/_changes?include_docs=true&conflicts=true").body())
        .contains("\"doc\":{\"_id\":\"a\",\"_rev\":\"2-b\",\"v\":1,\"_conflicts\":[\"1-c\"]}}");
  }

  @Test
  void small_documents_come_with_their_history_if_they_are_the_only_leaf() {
    String first = server.write("/w/a", "{\"n\":1}");
    String second = server.write("/w/twice?rev=" + server.write("/w/twice", "{}"), "{\"n\":2}");
    server.write("/w/long", "{\"text\":\"" + "x".repeat(9_000) + "\"}");
    server.write("/w/with", "{\"_attachments\":{\"f\":{\"data\":\"YWJj\"}}}");
    server.delete("/w/gone?rev=" + server.write("/w/gone", "{}"));
    server.post(
        "/w/_bulk_docs",
        json("{'new_edits':false,'docs':[{'_id':'two','_rev':'1-a'},{'_id':'two','_rev':'1-b'}]}"));

    String feed = server.get("/w/_changes?small_docs=true").body();

    assertThat(feed.lines().filter(row -> row.contains("\"doc\"")))
        .hasSize(2)
        .anyMatch(
            row -> row.contains(json(",'doc':{'_id':'a','_rev':'%s','n':1}}").formatted(first)))
        .anyMatch(
            row ->
                row.contains(
                    json(",'_rev':'%s','n':2,'_revisions':{'start':2,").formatted(second)));
    server
        .get("/w/_changes?small_docs=true&feed=longpoll")
        .expect(server.get("/w/_changes").body());
  }

  @Test
  void an_answer_has_small_documents_up_to_a_size() {
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      docs.add("{\"text\":\"" + "x".repeat(7_000) + "\"}");
    }
    server.post("/w/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}");

    String feed = server.get("/w/_changes?small_docs=true").body();

    long with = feed.lines().filter(row -> row.contains("\"doc\"")).count();
    assertThat(7_000 * with).isBetween(NormalFeed.SMALL_DOCUMENTS_BYTES - 200_000L, 800_000L);
    assertThat(feed.lines().filter(row -> row.contains("\"id\""))).hasSize(200);
  }

  @Test
  void filters_pass_some_rows_and_last_seq_all() {
    server.write("/w/a", "{}");
    server.write("/w/_design/d", "{}");
    server.write("/w/z", "{}");
    String last = server.get("/w").member("update_seq");

    Answer ids = server.post("/w/_changes?filter=_doc_ids", "{\"doc_ids\":[\"a\",\"none\"]}");
    assertThat(ids.body()).contains("\"id\":\"a\"").doesNotContain("\"id\":\"z\"");
    assertThat(ids.member("last_seq")).isEqualTo(last);
    server.get("/w/_changes?filter=_doc_ids&doc_ids=[%22a%22]").expect(ids.body());
    assertThat(server.get("/w/_changes?filter=_design").body())
        .contains(json("'id':'_design/d'"))
        .doesNotContain(json("'id':'a'"));
    assertThat(server.post("/w/_changes", json("{'doc_ids':['a']}")).body())
        .as("a body without filter does nothing")
        .contains(json("'id':'z'"));
    server.post("/w/_changes", "").expect(200);
    assertThat(server.get("/w/_changes?seq_interval=2").body()).contains("{\"seq\":null,");
  }

  @Test
  void a_selector_filters_rows_and_its_fields_narrow_documents() {
    server.write("/w/a", "{\"type\":\"x\",\"n\":{\"m\":1,\"o\":2}}");
    server.write("/w/b", "{\"type\":\"y\"}");
    String last = server.get("/w").member("update_seq");

    Answer feed =
        server.post(
            "/w/_changes?filter=_selector&include_docs=true",
            json("{'selector':{'type':'x'},'fields':['_id','n.m']}"));
    assertThat(feed.body())
        .contains(json("'doc':{'_id':'a','n':{'m':1}}}"))
        .doesNotContain(json("'id':'b'"));
    assertThat(feed.member("last_seq")).isEqualTo(last);
    assertThat(
            server
                .post(
                    "/w/_changes?filter=_selector&feed=longpoll", json("{'selector':{'type':'y'}}"))
                .body())
        .contains(json("'id':'b'"))
        .doesNotContain(json("'id':'a'"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                                 | Selector error: expected a JSON object
          {"selector":[]}                    | Selector error: expected a JSON object
          {"selector":{"$foo":1}}            | Invalid operator: $foo
          {"selector":{"a":{"$in":1}}}       | Bad argument for operator $in: 1
          {"selector":{"$gt":1}}             | One or more conditions is missing a field name.
          {"selector":{"a..b":1}}            | Invalid field name: a..b
          {"selector":{},"fields":5}         | Selector error: fields must be JSON array
          {"selector":{},"fields":[5]}       | Invalid JSON for field spec: 5
          {"selector":{},"fields":["a..b"]}  | Invalid field name: a..b
          5                                  | Request body must be a JSON object
          """)
  void what_is_wrong_with_a_selector_is_told(String body, String reason) {
    Answer answer = server.post("/w/_changes?filter=_selector", body).expect(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(answer.member("reason")).isEqualTo(reason);
  }

  @Test
  void a_selector_comes_in_a_body_and_may_not_be_endlessly_deep() {
    assertThat(server.get("/w/_changes?filter=_selector").member("reason"))
        .isEqualTo("Selector must be specified in POST payload");
    String deep = "{\"selector\":" + "{\"$not\":".repeat(5_000) + "{}" + "}".repeat(5_001);
    Answer answer = server.post("/w/_changes?filter=_selector", deep).expect(400);
    assertThat(answer.member("reason")).contains("nested deeper than 500");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          since=5        | Malformed sequence supplied in 'since' parameter.
          since=xyz      | Malformed sequence supplied in 'since' parameter.
          limit=a        | The limit parameter should be a non-negative integer
          limit=-1       | The limit value should be a non-negative integer
          timeout=a      | The timeout parameter should be a non-negative integer
          timeout=-1     | The timeout value should be a non-negative integer
          heartbeat=a    | Invalid heartbeat value. Expecting a positive integer value \
          (in milliseconds).
          heartbeat=0    | The heartbeat value should be a positive integer (in milliseconds).
          feed=nope      | Supported `feed` types: normal, continuous, live, longpoll, eventsource
          style=nope     | The style should be main_only or all_docs
          seq_interval=0 | invalid_seq_interval
          filter=_doc_ids                    | `doc_ids` filter parameter is not a list of doc ids.
          filter=_doc_ids&doc_ids=7          | `doc_ids` filter parameter is not a list of doc ids.
          filter=_doc_ids&doc_ids=%5B7%5D    | `doc_ids` filter parameter is not a list of doc ids.
          filter=_doc_ids&doc_ids=x          | invalid UTF-8 JSON
          filter=nope                        | `filter` must be of the form `designname/filtername`
          filter=a/b/c                       | `filter` must be of the form `designname/filtername`
          filter=_nope                       | unknown builtin filter name
          filter=_design/f                   | unknown builtin filter name
          filter=_view                       | `view` filter parameter is not provided.
          filter=_view&view=d                | `view` must be of the form `designname/viewname`
          """)
  void a_bad_parameter_is_400(String query, String reason) {
    server
        .get("/w/_changes?" + query)
        .expect(400, json("{'error':'bad_request','reason':'%s'}\n").formatted(reason));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          filter=a/b            | 404 | missing
          filter=gone/f         | 404 | deleted
          filter=d/g            | 404 | missing json key: g
          filter=plain/f        | 404 | missing json key: filters
          filter=_view&view=x/v | 404 | missing
          filter=_view&view=d/w | 404 | missing json key: w
          """)
  void a_filter_that_is_not_there_is_404(String query, int status, String reason) {
    writeFilters();

    for (String feed : new String[] {"", "&feed=continuous"}) {
      server
          .get("/w/_changes?" + query + feed)
          .expect(status, json("{'error':'not_found','reason':'%s'}\n").formatted(reason));
    }
    assertThat(server.post("/w/_changes?" + query, "{}").member("reason")).isEqualTo(reason);
  }

  private void writeFilters() {
    // A client's would be compiled.
    server.post(
        "/w/_bulk_docs",
        "{\"new_edits\":false,\"docs\":[{\"_id\":\"_design/d\",\"_rev\":\"1-a\","
            + "\"filters\":{\"f\":\"x\"},\"views\":{\"v\":{\"map\":\"x\"}}}]}");
    server.write("/w/_design/plain", "{}");
    String gone = server.write("/w/_design/gone", "{}");
    server.delete("/w/_design/gone?rev=" + gone);
  }

  @ParameterizedTest
  @ValueSource(strings = {"filter=_view&view=d/v", "filter=d/f", "filter=d%252Ff/x"})
  void a_filter_that_is_no_function_says_so(String query) {
    writeFilters();
    server.write("/w/_design/d%2Ff", "{\"filters\":{\"x\":\"x\"}}");

    server.get("/w/_changes?" + query).expect(500);
  }

  @Test
  void the_body_of_a_post_is_an_object_or_nothing() {
    server.post("/w/_changes", "").expect(200);
    server.post("/w/_changes?limit=0", "{\"limit\":\"x\"}").expect(200);
    server.post("/w/_changes", "x").expect(400);
    for (String body : new String[] {"[]", "5"}) {
      assertThat(server.post("/w/_changes", body).member("reason"))
          .isEqualTo("Request body must be a JSON object");
    }
    assertThat(server.post("/w/_changes?filter=_doc_ids&doc_ids=[%22a%22]", "{}").status())
        .as("ids of a POST are in its body")
        .isEqualTo(400);
  }

  private String feed(String query) {
    return server.get("/w/_changes?descending=true&" + query).body();
  }

  /** Of all lines that have one. */
  private static List<String> members(String body, String name) {
    List<String> found = new ArrayList<>();
    String[] parts = body.split("\"" + name + "\":\"");
    for (int part = 1; part < parts.length; part++) {
      found.add(parts[part].substring(0, parts[part].indexOf('"')));
    }
    return found;
  }

  private void write(String... ids) {
    for (String id : ids) {
      server.write("/w/" + id, "{}");
    }
  }

  @Test
  void a_long_poll_is_the_answer_of_the_normal_feed() {
    write("a", "b", "c");
    assertThat(feed("feed=longpoll")).isEqualTo(feed("feed=normal"));
    assertThat(feed("feed=longpoll&limit=2")).isEqualTo(feed("feed=normal&limit=2"));
    assertThat(feed("feed=longpoll&since=now")).isEqualTo(feed("feed=normal&since=now"));
  }

  @Test
  void a_continuous_feed_ends_behind_the_oldest_row() {
    write("a", "b", "c");
    String body = feed("feed=continuous&heartbeat=true");
    assertThat(members(body, "id")).containsExactly("c", "b", "a");
    String oldest = members(body, "seq").get(2);
    assertThat(body).endsWith("{\"last_seq\":\"" + oldest + "\",\"pending\":0}\n");
    assertThat(members(feed("feed=continuous&limit=1"), "id")).containsExactly("c");
    assertThat(members(feed("feed=continuous&limit=100"), "id")).containsExactly("c", "b", "a");
  }

  @Test
  void rows_of_several_pages_are_those_of_the_normal_feed() {
    String many =
        IntStream.range(0, 5_000)
            .mapToObj(i -> "{\"_id\":\"d" + i + "\"}")
            .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
    server.post("/w/_bulk_docs", many);
    assertThat(members(feed("feed=continuous"), "seq"))
        .hasSize(5_000)
        .isEqualTo(members(feed("feed=normal"), "seq"));
    assertThat(members(feed("feed=continuous&filter=_doc_ids&doc_ids=[\"d1\",\"d4999\"]"), "id"))
        .containsExactly("d4999", "d1");
  }

  @Test
  void an_empty_database_ends_at_once() {
    assertThat(feed("feed=continuous&heartbeat=true"))
        .isEqualTo("{\"last_seq\":\"0\",\"pending\":0}\n");
    assertThat(feed("feed=longpoll&heartbeat=true")).isEqualTo(feed("feed=normal"));
    assertThat(feed("feed=eventsource")).isEmpty();
  }

  @Test
  void a_filter_that_lets_nothing_through_ends_at_the_oldest_entry() {
    write("a", "b");
    String body = feed("feed=continuous&filter=_design");
    String oldest = members(feed("feed=normal"), "seq").get(1);
    assertThat(body).isEqualTo("{\"last_seq\":\"" + oldest + "\",\"pending\":0}\n");
  }

  @Test
  void until_bounds_the_newest_row() {
    write("a", "b", "c");
    String second = members(feed("feed=normal"), "seq").get(1);
    assertThat(members(feed("feed=continuous&until=" + second), "id")).containsExactly("b", "a");
  }

  @Test
  void a_browser_that_comes_again_is_shown_the_older_rows_and_then_sent_away() {
    write("a", "b", "c");
    String body = feed("feed=eventsource");
    assertThat(members(body, "id")).startsWith("c");
    List<String> seqs = members(body, "seq");
    Answer rest =
        server
            .request(
                "GET", "/w/_changes?descending=true&feed=eventsource", "Last-Event-ID", seqs.get(1))
            .send();
    assertThat(members(rest.body(), "seq")).containsExactly(seqs.get(2));
    server
        .request(
            "GET", "/w/_changes?descending=true&feed=eventsource", "Last-Event-ID", seqs.get(2))
        .send()
        .expect(204);
  }

  @Test
  void a_socket_is_closed_behind_the_oldest_row() {
    write("a", "b");
    try (SocketClient socket = SocketClient.connect(server, "/w/_changes?descending=true")) {
      assertThat(socket.text()).contains("\"id\":\"b\"");
      assertThat(socket.text()).contains("\"id\":\"a\"");
      assertThat(socket.text()).startsWith("{\"last_seq\":");
      assertThat(socket.closeCode()).isEqualTo(1000);
    }
  }

  @Test
  void the_updates_of_the_store_end_behind_the_oldest_one() {
    write("a");
    String normal = server.get("/_db_updates?descending=true").body();
    String continuous = server.get("/_db_updates?descending=true&feed=continuous").body();
    List<String> told = members(normal, "seq");
    assertThat(members(continuous, "seq")).isEqualTo(told).hasSizeGreaterThan(1);
    server.get("/_db_updates?descending=true&feed=longpoll").expect(normal);
    String oldest = told.get(told.size() - 1);
    assertThat(
            members(
                server.get("/_db_updates?descending=true&feed=continuous&until=" + oldest).body(),
                "seq"))
        .containsExactly(oldest);
  }

  @Test
  void a_shard_is_shown_newest_first() {
    write("a", "b");
    assertThat(
            members(
                server.get("/w/_changes/0?descending=true&feed=continuous&timeout=1000").body(),
                "id"))
        .containsExactly("b", "a");
  }

  /** Reading up to and including a sequence, in every form of the feed. */
  @Nested
  class Until {
    @RegisterExtension static final LectusServer server = LectusServer.shared();

    private final List<String> seq = new ArrayList<>();

    @BeforeEach
    void write() {
      server.put("/w");
      for (String id : List.of("a", "b", "c")) {
        put(id);
      }
    }

    private void put(String id) {
      server.write("/w/" + id, "{}");
      seq.add(server.get("/w").member("update_seq"));
    }

    private String body(String query) {
      return server.get("/w/_changes?" + query).body();
    }

    private static List<String> ids(String body) {
      List<String> ids = new ArrayList<>();
      for (String part : body.split("\"id\":\"")) {
        ids.add(part.substring(0, Math.max(0, part.indexOf('"'))));
      }
      return ids.subList(1, ids.size());
    }

    @Test
    void a_normal_feed_ends_at_it() {
      String bounded = body("until=" + seq.get(1));
      assertThat(ids(bounded)).containsExactly("a", "b");
      assertThat(bounded)
          .startsWith("{\"results\":[\n{\"seq\":\"" + seq.get(0) + "\"")
          .contains("},\r\n{\"seq\":\"" + seq.get(1) + "\"")
          .endsWith("}]}\n],\n\"last_seq\":\"" + seq.get(1) + "\",\"pending\":1}\n");
      assertThat(body("until=" + seq.get(2))).isEqualTo(body(""));
      assertThat(body("until=now")).isEqualTo(body(""));
      assertThat(body("until=" + seq.get(1) + "&limit=1"))
          .isEqualTo(body("limit=1"))
          .endsWith("\"pending\":2}\n");
      assertThat(body("since=" + seq.get(1) + "&until=" + seq.get(0)))
          .isEqualTo("{\"results\":[\n\n],\n\"last_seq\":\"" + seq.get(1) + "\",\"pending\":0}\n");
      assertThat(body("until=0")).startsWith("{\"results\":[\n\n],\n\"last_seq\":\"0\"");
      assertThat(body("until=" + seq.get(0) + "&limit=0")).contains("\"last_seq\":\"0\"");
      server.get("/w/_changes?until=nonsense").expect(400);
    }

    @Test
    void newest_first_begins_at_it() {
      assertThat(ids(body("descending=true&until=" + seq.get(1)))).containsExactly("b", "a");
      assertThat(ids(body("descending=true&until=" + seq.get(1) + "&limit=1")))
          .containsExactly("b");
      assertThat(ids(body("descending=true&until=0"))).isEmpty();
    }

    @Test
    void a_document_updated_behind_it_is_not_shown() {
      String before = seq.get(2);
      String rev = server.get("/w/b").member("_rev");
      server.write("/w/b?rev=" + rev, "{}");

      assertThat(ids(body("until=" + before))).containsExactly("a", "c");
    }

    @Test
    void live_feeds_end_at_once_if_it_has_passed() {
      String until = "&until=" + seq.get(1);
      String end = "{\"last_seq\":\"" + seq.get(1) + "\",\"pending\":1}\n";

      assertThat(ids(body("feed=longpoll" + until))).containsExactly("a", "b");
      assertThat(body("feed=longpoll&since=" + seq.get(1) + until))
          .isEqualTo("{\"results\":[\n\n],\n\"last_seq\":\"" + seq.get(1) + "\",\"pending\":0}\n");
      assertThat(ids(body("feed=continuous&heartbeat=true" + until))).containsExactly("a", "b");
      assertThat(body("feed=continuous&heartbeat=true" + until)).endsWith(end);
      assertThat(ids(body("feed=eventsource" + until))).containsExactly("a", "b");
      try (SocketClient socket = SocketClient.connect(server, "/w/_changes?" + until)) {
        assertThat(ids(socket.text() + socket.text())).containsExactly("a", "b");
        assertThat(socket.text() + '\n').isEqualTo(end);
        assertThat(socket.closeCode()).isEqualTo(1000);
      }
    }

    /** The bound is a future sequence: the one that a second database's next write gets. */
    @Test
    void a_live_feed_goes_on_until_it_passes() {
      server.put("/other");
      server.write("/other/x", "{}");
      String future = server.get("/other").member("update_seq");
      try (Connection feed =
          server
              .request(
                  "GET", "/w/_changes?feed=continuous&heartbeat=60000&since=now&until=" + future)
              .open()) {
        feed.readHead();
        server.write("/w/d", "{}");

        assertThat(feed.chunkText()).isEqualTo("{\"last_seq\":\"" + future + "\",\"pending\":1}\n");
        assertThat(feed.chunkText()).isEmpty();
      }
    }

    /** Commits to other shards do not wake a shard's readers at once, but they pass the bound. */
    @Test
    void a_reader_of_a_shard_learns_that_the_database_has_passed_it() {
      server.put("/v?changes_shards=2");
      server.put("/other");
      String first = "d0";
      String inOther = null;
      for (int i = 1; inOther == null; i++) {
        inOther = shardOf("d" + i) == shardOf(first) ? null : "d" + i;
      }
      server.write("/v/" + first, "{}");
      server.write("/other/x", "{}");
      String future = server.get("/other").member("update_seq");
      String query = "?feed=continuous&heartbeat=60000&since=now&until=" + future;
      try (Connection feed =
          server.request("GET", "/v/_changes/" + shardOf(first) + query).open()) {
        feed.readHead();
        server.write("/v/" + inOther, "{}");

        assertThat(feed.chunkText()).startsWith("{\"last_seq\":\"" + future + "\"");
        assertThat(feed.chunkText()).isEmpty();
      }
    }

    private static int shardOf(String id) {
      return HashScheme.JUMP_CRC32.shardOf(id, 2);
    }
  }

  /**
   * The position of a feed advances with the rows that were looked at, even if a filter passes
   * none.
   */
  @Nested
  class FilteredPosition {
    @RegisterExtension static final LectusServer server = LectusServer.shared();

    @BeforeEach
    void create() {
      server.put("/w");
      server.write("/w/before", "{}");
    }

    private String last() {
      return server.get("/w").member("update_seq");
    }

    private static String heartbeat(String at) {
      return "event: heartbeat\ndata: \nid: \"" + at + "\"\n\n";
    }

    @Test
    void heartbeats_of_events_tell_it() {
      try (Connection feed =
          server
              .request("GET", "/w/_changes?feed=eventsource&heartbeat=20&filter=_design")
              .open()) {
        feed.readHead();
        String before = heartbeat(last());
        Await.until("it is behind what it read by itself", () -> feed.chunkText().equals(before));
        server.write("/w/after", "{}");
        String after = heartbeat(last());
        Await.until("it is behind what the tail read", () -> feed.chunkText().equals(after));
      }
    }

    @Test
    void last_seq_tells_it() {
      for (String form : new String[] {"longpoll", "continuous"}) {
        String query = "?filter=_design&timeout=20&feed=" + form;
        assertThat(server.get("/w/_changes" + query).body())
            .contains("\"last_seq\":\"" + last() + "\",\"pending\":0}");
      }
    }

    @Test
    void heartbeats_and_ends_of_subscriptions_tell_it() {
      try (Conversation client = Conversation.with(server)) {
        client.subscribe("a", "'db':'w','doc_ids':['none'],'heartbeat':20");
        SocketClient socket = client.socket();
        String before = at("heartbeat", last());
        Await.until("it is behind what it read by itself", () -> socket.text().equals(before));
        server.write("/w/after", "{}");
        String after = at("heartbeat", last());
        Await.until("it is behind what the tail read", () -> socket.text().equals(after));
        server.write("/w/last", "{}");
        String end = last();
        String beforeEnd = at("heartbeat", end);
        Await.until("it is behind the last one", () -> socket.text().equals(beforeEnd));
        client.unsubscribe("a");
        Await.until("it ends there", () -> socket.text().equals(at("end", end)));
      }
    }

    private static String at(String type, String at) {
      return "{\"type\":\"" + type + "\",\"id\":\"a\",\"at\":\"" + at + "\"}";
    }
  }

  /** The number of transactions of a normal feed (RFC 003, Access Patterns). */
  @Nested
  class FeedTransactions {
    @RegisterExtension static final TestStores stores = new TestStores();

    private final WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
    @AutoClose private final LectusServer server = LectusServer.start(store.store());

    @BeforeEach
    void fill() {
      server.put("/w");
      write(3);
    }

    private void write(int documents) {
      String docs =
          IntStream.range(0, documents).mapToObj(i -> "{}").collect(Collectors.joining(","));
      server.post("/w/_bulk_docs", "{\"docs\":[" + docs + "]}").expect(201);
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "",
          "?limit=2",
          "?descending=true",
          "?descending=true&limit=0",
          "?include_docs=true",
          "?filter=_design"
        })
    void an_answer_of_one_page_is_of_one_transaction_and_so_is_that_nothing_changed(String query) {
      String target = "/w/_changes" + query;
      int before = store.begun();
      Answer feed = server.get(target).expect(200);
      assertThat(store.begun() - before).isEqualTo(1);

      Answer unchanged =
          server.request("GET", target, "If-None-Match", feed.header("etag")).send().expect(304);
      assertThat(unchanged.body()).isEmpty();
      assertThat(unchanged.header("etag")).isEqualTo(feed.header("etag"));
      assertThat(store.begun() - before).isEqualTo(2);

      write(1);
      Answer changed =
          server.request("GET", target, "If-None-Match", feed.header("etag")).send().expect(200);
      assertThat(changed.header("etag")).isNotEqualTo(feed.header("etag"));
    }

    @Test
    void an_answer_of_one_page_of_db_updates_is_of_one_transaction() {
      String last = server.get("/_db_updates").member("last_seq");
      for (String query :
          List.of(
              "", "?since=" + last, "?limit=0", "?descending=true", "?descending=true&limit=0")) {
        int before = store.begun();
        server.get("/_db_updates" + query).expect(200);
        assertThat(store.begun() - before).as(query).isEqualTo(1);
      }
    }

    @Test
    void an_answer_of_several_pages_is_of_as_many_transactions() {
      write(5_000);
      int before = store.begun();
      Answer feed = server.get("/w/_changes");
      assertThat(feed.body()).contains("\"pending\":0");
      assertThat(feed.body().lines().filter(line -> line.startsWith("{\"seq\"")).count())
          .isEqualTo(5_003);
      assertThat(store.begun() - before).isGreaterThan(1);
      server.request("GET", "/w/_changes", "If-None-Match", feed.header("etag")).send().expect(304);
    }
  }

  /** Every feed refuses a sequence that was not reached yet, which does not affect other feeds. */
  @Nested
  class FutureSince {
    @RegisterExtension static final LectusServer server = LectusServer.shared();

    private static final String NORMAL = "";
    private static final String LONG_POLL = "&feed=longpoll";
    private static final String CONTINUOUS = "&feed=continuous";
    private static final String EVENTS = "&feed=eventsource";

    private String sequence;
    private String shard;

    @BeforeEach
    void write() {
      server.put("/w");
      server.write("/w/a", "{}");
      sequence = server.get("/w").member("update_seq");
      String shards = server.get("/w/_changes/_meta").body();
      shard = shards.replaceAll("(?s).*\"shards\":\\[\"([^\"]+)\"].*", "$1");
    }

    /** Returns a position in the whole store, hours ahead of any that the test may reach. */
    private String laterInStore() {
      byte[] at = Sequence.parse(sequence).orElseThrow().versionstamp();
      at[2]++;
      return Sequence.of(0, Arrays.copyOf(at, 10), 0).toString().substring(2);
    }

    private String laterInDatabase() {
      return sequence.substring(0, 2) + laterInStore();
    }

    /**
     * Returns a sequence of an Incarnation that the database does not have, at a commit that it
     * has.
     */
    private String ofLaterIncarnation() {
      Sequence reached = Sequence.parse(sequence).orElseThrow();
      return new Sequence(reached.incarnation() + 1, reached.versionstamp()).toString();
    }

    private static void assertRefused(Answer answer) {
      assertThat(answer.status()).as(answer.toString()).isEqualTo(400);
      assertThat(answer.member("error")).isEqualTo("bad_request");
      assertThat(answer.member("reason")).contains("future");
    }

    @ParameterizedTest
    @ValueSource(strings = {NORMAL, LONG_POLL, CONTINUOUS, EVENTS, "&limit=0", "&until=now"})
    void of_a_database_and_a_shard(String form) {
      for (String since : List.of(laterInDatabase(), ofLaterIncarnation())) {
        assertRefused(server.get("/w/_changes?since=" + since + form));
        assertRefused(server.get("/w/_changes/" + shard + "?since=" + since + form));
        assertRefused(server.post("/w/_changes?since=" + since + form, "{}"));
      }
    }

    @ParameterizedTest
    @ValueSource(strings = {NORMAL, LONG_POLL, CONTINUOUS, EVENTS, "&limit=0", "&until=now"})
    void of_the_updates_of_the_store(String form) {
      assertRefused(server.get("/_db_updates?since=" + laterInStore() + form));
    }

    @Test
    void of_the_list_of_shards() {
      assertRefused(server.get("/w/_changes/_meta?since=" + laterInDatabase()));
      server.get("/w/_changes/_meta?since=" + sequence).expect(200);
    }

    @Test
    void of_a_browser_that_comes_again() {
      assertRefused(
          server
              .request("GET", "/w/_changes?feed=eventsource", "Last-Event-ID", laterInDatabase())
              .send());
      assertRefused(
          server
              .request("GET", "/_db_updates?feed=eventsource", "Last-Event-ID", laterInStore())
              .send());
    }

    @Test
    void of_a_feed_as_a_socket() {
      for (String target :
          List.of(
              "/w/_changes?since=" + laterInDatabase(), "/_db_updates?since=" + laterInStore())) {
        assertRefused(
            server
                .request(
                    "GET",
                    target,
                    "Connection",
                    "Upgrade",
                    "Upgrade",
                    "websocket",
                    "Sec-WebSocket-Version",
                    "13",
                    "Sec-WebSocket-Key",
                    "dGhlIHNhbXBsZSBub25jZQ==")
                .send());
      }
    }

    @Test
    void of_a_subscription() {
      try (Conversation client = Conversation.with(server)) {
        client.subscribe("one", "'db':'w','since':'" + laterInDatabase() + "'");
        client.error("one", "bad_request", true);
        client.subscribe("one", "'db':'w','since':'" + ofLaterIncarnation() + "'");
        client.error("one", "bad_request", true);
        client.subscribe("many", "'db':'w*','since':'" + laterInStore() + "'");
        client.error("many", "bad_request", true);
      }
    }

    /** Nobody else has to wait for a sequence that a client invents. */
    @Test
    void others_with_the_same_options_go_on() {
      server.get("/w/_changes?feed=longpoll&timeout=1&since=" + laterInDatabase());
      try (SocketClient feed = SocketClient.connect(server, "/w/_changes?since=now")) {
        server.get("/w/_changes?feed=longpoll&timeout=1&since=" + laterInDatabase());
        server.write("/w/b", "{}");
        assertThat(feed.text()).contains("\"id\":\"b\"");
        server.write("/w/c", "{}");
        assertThat(feed.text()).contains("\"id\":\"c\"");
      }
    }

    @Test
    void what_is_made_of_a_read_version_is_no_future() {
      String at = positionInStore(server);
      assertThat(at).isGreaterThan(sequence.substring(2));
      String inDatabase = sequence.substring(0, 2) + at;

      server.get("/w/_changes?since=" + inDatabase).expect(200);
      server.get("/_db_updates?since=" + at).expect(200);
      server.get("/w/_changes?feed=longpoll&timeout=1&since=" + inDatabase).expect(200);
      server.write("/w/b", "{}");
      assertThat(server.get("/w/_changes?feed=longpoll&since=" + inDatabase).body())
          .contains("\"id\":\"b\"");
    }

    /** Returns the position of a reader of many databases that has seen all of the store. */
    private static String positionInStore(LectusServer server) {
      try (Conversation client = Conversation.with(server)) {
        client.subscribe("a", "'db':'w*','since':'now'");
        return client.caughtUp("a");
      }
    }

    /** {@code until} is waited for. */
    @Test
    void newest_first_and_bounds_may_lie_ahead() {
      assertThat(server.get("/w/_changes?descending=true&since=" + laterInDatabase()).status())
          .as("which is not looked at")
          .isEqualTo(200);
      assertThat(server.get("/w/_changes?descending=true&until=" + laterInDatabase()).body())
          .contains("\"id\":\"a\"");
      try (Connection feed =
          server.request("GET", "/w/_changes?feed=continuous&until=" + laterInDatabase()).open()) {
        feed.readHead().expect(200);
        assertThat(feed.chunkText()).contains("\"id\":\"a\"");
      }
    }

    /** After a restart, an embedded store's versions are above all that it gave out before. */
    @Test
    void what_was_given_out_before_a_restart_is_no_future(@TempDir Path folder) {
      TestStores.onlyEmbedded();
      String since;
      try (Store store = EmbeddedStores.open(folder);
          LectusServer before = LectusServer.start(store)) {
        before.put("/w");
        before.write("/w/a", "{}");
        since = positionInStore(before);
      }
      try (Store store = EmbeddedStores.open(folder);
          LectusServer after = LectusServer.start(store)) {
        after.get("/_db_updates?since=" + since).expect(200);
        after.get("/_db_updates?feed=longpoll&timeout=1&since=" + since).expect(200);
        String inDatabase = sequence.substring(0, 2) + since;
        after.get("/w/_changes?since=" + inDatabase).expect(200);
        assertRefused(after.get("/w/_changes?since=" + laterInDatabase()));
      }
    }
  }
}
