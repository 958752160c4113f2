package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.document.PurgeResourceTest.PurgedDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code _purge} and what can be seen of it. */
final class PurgeResourceTest {
  @RegisterExtension
  @Order(1)
  static final TestStores stores = SoundStore.stores();

  @RegisterExtension
  @Order(2)
  static final PurgedDatabase purged = new PurgedDatabase(stores);

  private static final int MOST = 10_000;

  @Test
  void purged_leaves_are_named_and_remembered() {
    String first = purged.server().write("/w/a", "{}");
    String second = purged.server().write("/w/a?rev=" + first, "{}");
    String other = purged.server().write("/w/b", "{}");

    purged
        .server()
        .post(
            "/w/_purge",
            json("{'a':['%s','%s'],'none':['1-x'],'b':['%s'],'empty':[]}")
                .formatted(first, second, other))
        .expect(
            201,
            json("{'purge_seq':null,'purged':{'a':['%s'],'none':[],'b':['%s'],'empty':[]}}\n")
                .formatted(second, other));
    assertThat(purged.server().get("/w/_purged_infos").body())
        .contains(json("{'id':'a','revs':['%s']}").formatted(second))
        .contains(json("{'id':'b','revs':['%s']}").formatted(other));
    assertThat(purged.server().get("/w/a").body())
        .isEqualTo("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    assertThat(purged.server().get("/w/_changes").body()).startsWith("{\"results\":[\n\n]");
    assertThat(purged.server().get("/w/_all_docs").body()).contains("\"total_rows\":0");
    assertThat(purged.server().get("/w").member("purge_seq"))
        .isNotEqualTo("0")
        .isEqualTo(purged.server().get("/w").member("update_seq"));
    assertThat(purged.server().post("/w/_purge", "{}").body())
        .isEqualTo("{\"purge_seq\":null,\"purged\":{}}\n");
  }

  @Test
  void a_purged_revision_is_missing_and_comes_again() {
    String document =
        json(
            "{'docs':[{'_id':'a','_rev':'2-b','v':1,'_revisions':{'start':2,'ids':['b','a']}}],'new_edits':false}");
    purged.server().post("/w/_bulk_docs", document);
    assertThat(purged.server().post("/w/_revs_diff", "{\"a\":[\"2-b\"]}").body()).isEqualTo("{}\n");

    purged.purge("a", "2-b");

    assertThat(purged.server().post("/w/_revs_diff", "{\"a\":[\"1-a\",\"2-b\"]}").body())
        .isEqualTo("{\"a\":{\"missing\":[\"1-a\",\"2-b\"]}}\n");
    purged.server().get("/w/a?rev=2-b").expect(404);
    purged.server().post("/w/_bulk_docs", document);
    assertThat(purged.server().get("/w/a").body())
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"2-b\",\"v\":1}\n");
  }

  @Test
  void what_is_left_of_a_document_may_be_an_ancestor_and_what_was_purged_not() {
    for (String branch : new String[] {"b", "c"}) {
      purged
          .server()
          .post(
              "/w/_bulk_docs",
              json("{'docs':[{'_id':'a','_rev':'2-%s','_revisions':{'start':2,'ids':['%s','a']}}],")
                      .formatted(branch, branch)
                  + "\"new_edits\":false}");
    }
    assertThat(purged.server().post("/w/_revs_diff", json("{'a':['3-x']}")).body())
        .contains("2-b")
        .contains("2-c");

    purged.purge("a", "2-c");
    assertThat(purged.server().post("/w/_revs_diff", "{\"a\":[\"2-c\",\"3-x\"]}").body())
        .isEqualTo("{\"a\":{\"missing\":[\"2-c\",\"3-x\"],\"possible_ancestors\":[\"2-b\"]}}\n");

    purged.purge("a", "2-b");
    assertThat(purged.server().post("/w/_revs_diff", "{\"a\":[\"3-x\"]}").body())
        .isEqualTo("{\"a\":{\"missing\":[\"3-x\"]}}\n");
  }

  @Test
  void as_many_purges_are_remembered_as_the_limit_says_and_the_oldest_goes_first() {
    purged.server().put("/w/_purged_infos_limit", "3");
    for (String id : new String[] {"a", "b", "c"}) {
      purged.purge(id, purged.server().write("/w/" + id, "{}"));
    }
    assertThat(purgedIds()).containsExactly("a", "b", "c");

    purged.purge("d", purged.server().write("/w/d", "{}"));
    assertThat(purgedIds()).containsExactly("b", "c", "d");

    purged.server().put("/w/_purged_infos_limit", "2");
    assertThat(purgedIds()).as("until the next purge").containsExactly("b", "c", "d");
    purged.purge("e", purged.server().write("/w/e", "{}"));
    assertThat(purgedIds()).containsExactly("d", "e");
  }

  private static List<String> purgedIds() {
    return Pattern.compile(json("'id':'([^']*)'"))
        .matcher(purged.server().get("/w/_purged_infos").body())
        .results()
        .map(it -> it.group(1))
        .toList();
  }

  @Test
  void indexes_show_the_next_winner_or_nothing() {
    purged.server().post("/w/_index", json("{'index':{'fields':['v']},'ddoc':'d','name':'v'}"));
    for (String rev : new String[] {"1-a", "1-b"}) {
      purged
          .server()
          .post(
              "/w/_bulk_docs",
              json("{'docs':[{'_id':'x','_rev':'%s','v':'%s'}],'new_edits':false}")
                  .formatted(rev, rev));
    }
    String query = "{\"selector\":{\"v\":{\"$gt\":null}},\"fields\":[\"v\"],\"use_index\":\"d\"}";
    assertThat(purged.server().post("/w/_find", query).body()).contains("{\"v\":\"1-b\"}");

    purged.purge("x", "1-b");
    assertThat(purged.server().post("/w/_find", query).body()).contains("{\"v\":\"1-a\"}");

    purged.purge("x", "1-a");
    assertThat(purged.server().post("/w/_find", query).body()).doesNotContain("\"v\"");
  }

  @Test
  void an_index_goes_with_its_purged_design_document() {
    purged.server().post("/w/_index", json("{'index':{'fields':['v']},'ddoc':'d','name':'v'}"));
    purged.server().write("/w/x", "{\"v\":1}");

    purged.purge("_design/d", purged.server().get("/w/_design/d").member("_rev"));

    assertThat(purged.server().get("/w/_index").body()).contains("\"total_rows\":1");
    purged.server().get("/w/_design/d").expect(404);
  }

  @Test
  void a_live_feed_goes_on() {
    String gone = purged.server().write("/w/gone", "{}");
    String since = purged.server().get("/w").member("update_seq");
    try (Connection feed =
        purged.server().request("GET", "/w/_changes?feed=continuous&since=" + since).open()) {
      feed.readHead();
      purged.purge("gone", gone);
      purged.server().write("/w/next", "{}");

      assertThat(feed.chunkTextBegins()).contains("\"id\":\"next\"");
    }
    assertThat(purged.server().get("/w/_changes?since=" + since).body())
        .contains(json("'id':'next'"))
        .doesNotContain("gone");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[]|400|Request body must be a JSON object",
        "{\"a\":\"1-x\"}|400|Invalid list of revisions",
        "{\"a\":[1]}|400|Invalid rev format",
        "{\"a\":[\"x\"]}|400|Invalid rev format",
      })
  void what_is_no_purge_is_refused(String body, int status, String reason) {
    Answer answer = purged.server().post("/w/_purge", body).expect(status);
    assertThat(answer.member("reason")).isEqualTo(reason);
  }

  @Test
  void ids_are_those_of_a_partitioned_database() {
    purged.server().delete("/p");
    purged.server().put("/p?partitioned=true");
    String rev = purged.server().write("/p/a:b", "{}");
    String whole = "\"a:b\":[\"" + rev + "\"]";

    for (String id : List.of("ab", ":b", "a:")) {
      Answer answer =
          purged.server().post("/p/_purge", "{" + whole + ",\"" + id + "\":[\"1-x\"]}").expect(400);
      assertThat(answer.member("error")).startsWith("illegal_");
    }
    purged
        .server()
        .post("/p/_purge", "{\"ab\":[]}")
        .expect(
            "{\"error\":\"illegal_docid\",\"reason\":\"Doc id must be of form partition:id\"}\n");
    purged.server().get("/p/a:b").expect(200);
    String design = "\"_design/d\":[\"1-x\"]";
    purged.server().post("/p/_purge", "{" + whole + "," + design + "}").expect(201);
  }

  @Test
  void a_request_names_so_many_documents_and_revisions_and_no_more() {
    purged.server().post("/w/_purge", documents(MOST)).expect(201);
    assertThat(purged.server().post("/w/_purge", documents(MOST + 1)).member("reason"))
        .isEqualTo("Exceeded maximum number of documents.");
    purged.server().post("/w/_purge", revisions(MOST)).expect(201);
    assertThat(purged.server().post("/w/_purge", revisions(MOST + 1)).member("reason"))
        .isEqualTo("Exceeded maximum number of revisions.");
  }

  private static String documents(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "\"d" + i + "\":[]")
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String revisions(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "\"1-" + i + "\"")
        .collect(Collectors.joining(",", "{\"d\":[", "]}"));
  }

  @Test
  void many_documents_are_purged_and_listed_page_by_page() {
    purged.server().put("/w/_purged_infos_limit", "250");
    String documents =
        IntStream.range(0, 300)
            .mapToObj(i -> "{\"_id\":\"d%03d\",\"_rev\":\"1-a\"}".formatted(i))
            .collect(Collectors.joining(",", json("{'new_edits':false,'docs':["), "]}"));
    purged.server().post("/w/_bulk_docs", documents);
    String all =
        IntStream.range(0, 300)
            .mapToObj(i -> "\"d%03d\":[\"1-a\"]".formatted(i))
            .collect(Collectors.joining(",", "{", "}"));

    assertThat(purged.server().post("/w/_purge", all).body())
        .isEqualTo("{\"purge_seq\":null,\"purged\":" + all + "}\n");

    // Purges at the same time do not see each other's; the next one forgets what is too much.
    purged.purge("last", purged.server().write("/w/last", "{}"));
    String infos = purged.server().get("/w/_purged_infos").body();
    assertThat(infos).startsWith("{\"purged_infos\":[{\"id\":").contains("\"id\":\"last\"");
    assertThat(infos.split("\"id\"")).hasSize(1 + 250);
    assertThat(purged.server().get("/w").body())
        .contains("\"doc_count\":0")
        .contains("\"doc_del_count\":0");
  }

  @Test
  void there_is_no_purge_without_a_database_or_of_another_method_or_type() {
    purged.server().post("/nodb/_purge", "{}").expect(404);
    purged.server().get("/w/_purge").expect(405);
    purged
        .server()
        .request("POST", "/w/_purge")
        .header("Content-Type", "text/plain")
        .send()
        .expect(415);
  }

  /**
   * A server for a class, with a fresh database {@code w} for each test, from which tests purge.
   */
  static final class PurgedDatabase
      implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
    private final TestStores stores;
    private LectusServer server;

    PurgedDatabase(TestStores stores) {
      this.stores = stores;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
      server = LectusServer.start(stores.fresh());
    }

    @Override
    public void beforeEach(ExtensionContext context) {
      server.delete("/w");
      server.put("/w");
    }

    @Override
    public void afterAll(ExtensionContext context) {
      server.close();
    }

    LectusServer server() {
      return server;
    }

    /** Purges a leaf that is there. */
    Answer purge(String id, String revision) {
      Answer answer = server.post("/w/_purge", "{\"" + id + "\":[\"" + revision + "\"]}");
      assertThat(answer.body()).contains("\"" + id + "\":[\"" + revision + "\"]");
      return answer;
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "POST|/w/_missing_revs|{\"a\":[\"1-x\"]}|200|{\"missing_revs\":{\"a\":[\"1-x\"]}}",
        "POST|/w/_revs_diff|{\"a\":[\"1-x\"]}|200|{\"a\":{\"missing\":[\"1-x\"]}}",
        "GET|/w/_revs_limit||200|1000",
        "PUT|/w/_revs_limit|5|200|{\"ok\":true}",
        "GET|/w/_local_docs||200|{\"total_rows\":null,\"offset\":null,\"rows\":[",
        "GET|/w/_local/l||200|{\"_id\":\"_local/l\",\"_rev\":\"0-1\",\"kept\":true}",
        "POST|/w/_ensure_full_commit|{}|201|{\"ok\":true",
        "POST|/w/_compact|{}|202|{\"ok\":true}",
        "POST|/w/_bulk_get|{\"docs\":[{\"id\":\"a\",\"rev\":\"1-x\"}]}|200|"
            + "{\"results\":[{\"id\":\"a\",\"docs\":[{\"error\"",
        "GET|/w/_all_docs?key=\"a\"||200|{\"total_rows\":0,\"offset\":0,\"rows\":[",
        "GET|/w/_design_docs||200|{\"total_rows\":0",
      })
  void resources_of_the_database_answer_as_if_it_had_never_been(
      String method, String target, String body, int status, String begin) {
    purged.server().put("/w/_local/l", "{\"kept\":true}");
    purged
        .server()
        .post("/w/_bulk_docs", json("{'new_edits':false,'docs':[{'_id':'a','_rev':'1-x','v':1}]}"));
    purged.purge("a", "1-x");

    Answer answer =
        body == null
            ? purged.server().request(method, target.replace("\"", "%22")).send()
            : purged.server().request(method, target).json(body).send();

    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).startsWith(begin);
  }

  @Test
  void since_the_place_of_a_purged_document_a_feed_goes_on_behind_it() {
    purged.server().write("/w/before", "{}");
    String gone = purged.server().write("/w/gone", "{}");
    String place = purged.server().get("/w").member("update_seq");
    purged.server().write("/w/after", "{}");

    purged.purge("gone", gone);

    for (String kind : new String[] {"", "&feed=longpoll"}) {
      assertThat(purged.server().get("/w/_changes?since=" + place + kind).body())
          .contains(json("'id':'after'"))
          .doesNotContain("gone")
          .doesNotContain("before");
    }
  }

  @Test
  void a_feed_since_the_place_of_a_purge_waits_for_the_next_change() {
    purged.purge("gone", purged.server().write("/w/gone", "{}"));
    String now = purged.server().get("/w").member("update_seq");
    try (Connection feed =
        purged.server().request("GET", "/w/_changes?feed=continuous&since=" + now).open()) {
      feed.readHead();
      purged.server().write("/w/next", "{}");
      assertThat(feed.chunkTextBegins()).contains("\"id\":\"next\"");
    }
  }

  @Test
  void the_feed_of_all_databases_tells_of_a_purge() {
    String gone = purged.server().write("/w/gone", "{}");
    String since = purged.server().get("/_db_updates").member("last_seq");
    assertThat(purged.server().get("/_db_updates?since=" + since).body()).doesNotContain("\"w\"");

    purged.purge("gone", gone);

    assertThat(purged.server().get("/_db_updates?feed=longpoll&since=" + since).body())
        .contains("\"db_name\":\"w\",\"type\":\"updated\"");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void no_feed_ends_before_the_place_of_a_purge(int documents) {
    String[] revisions = new String[documents];
    for (int i = 0; i < documents; i++) {
      revisions[i] = purged.server().write("/w/d" + i, "{}");
    }
    String before = purged.server().get("/w/_changes").member("last_seq");
    for (int i = documents - 1; i >= 0; i--) {
      purged.purge("d" + i, revisions[i]);

      String last = purged.server().get("/w").member("update_seq");
      assertThat(last).isGreaterThan(before);
      for (String since : new String[] {"0", before, last, "now"}) {
        for (String filter :
            new String[] {"", "&filter=_design", "&filter=_doc_ids&doc_ids=[%22x%22]"}) {
          assertThat(purged.server().get("/w/_changes?since=" + since + filter).member("last_seq"))
              .as(since + filter)
              .isEqualTo(last);
        }
      }
      assertThat(
              purged
                  .server()
                  .get("/w/_changes?feed=longpoll&timeout=1&since=" + before)
                  .member("last_seq"))
          .isEqualTo(last);
      before = last;
    }
  }
}
