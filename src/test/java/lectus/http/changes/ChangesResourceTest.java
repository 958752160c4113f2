package lectus.http.changes;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.changes.page.NormalFeed;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
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
}
