package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.config.HttpKeys;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DerivedSubspace;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredIndex;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code /{db}/_index}, as CouchDB 3.5 answers, and queries that only an index serves that is being
 * built: CouchDB would build it first.
 */
final class IndexResourceTest {
  private static final String ALL_DOCS =
      json("{'ddoc':null,'name':'_all_docs','type':'special','def':{'fields':[{'_id':'asc'}]}}");

  private static final String SORTED = "{'selector':{'a':{'$gt':0}},'sort':['a']}";

  private static final String NAMED =
      "{'selector':{'a':{'$gt':0}},'use_index':'x','allow_fallback':false}";

  @RegisterExtension static final LectusServer server = LectusServer.shared("/d");

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();

  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);

  private final Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());

  private Answer index(String body) {
    return server.post("/d/_index", json(body));
  }

  @Test
  void an_index_is_a_view_of_a_design_document() {
    String body = "{'index':{'fields':['b',{'a':'asc'}]},'name':'n','ddoc':'x'}";
    index(body).expect(200, json("{'result':'created','id':'_design/x','name':'n'}\n"));
    assertThat(index(body).member("result")).isEqualTo("exists");
    assertThat(server.get("/d/_design/x").body())
        .contains(
            json(
                "'language':'query','views':{'n':{'map':{'fields':{'b':'asc','a':'asc'},"
                    + "'partial_filter_selector':{}},'reduce':'_count',"
                    + "'options':{'def':{'fields':['b',{'a':'asc'}]}}}}}"));
    server
        .get("/d/_index")
        .expect(
            json("{'total_rows':2,'indexes':[")
                + ALL_DOCS
                + json(
                    ",{'ddoc':'_design/x','name':'n','type':'json','partitioned':false,"
                        + "'def':{'fields':[{'b':'asc'},{'a':'asc'}]}}]}\n"));
  }

  @Test
  void names_follow_from_the_definition() {
    Answer first = index("{'index':{'fields':['a']}}");

    assertThat(first.member("name")).matches("[0-9a-f]{40}");
    assertThat(first.member("id")).isEqualTo("_design/" + first.member("name"));
    assertThat(index("{'index':{'fields':['a']},'type':'json'}").member("result"))
        .isEqualTo("exists");
    assertThat(index("{'index':{'fields':['b']}}").member("result")).isEqualTo("created");
    Answer named = index("{'index':{'fields':['a']},'name':'own'}");
    assertThat(named.member("result")).isEqualTo("created");
    assertThat(named.member("id")).isNotEqualTo(first.member("id"));
  }

  @Test
  void a_filter_is_shown_in_its_normal_form() {
    index("{'index':{'fields':['a'],'partial_filter_selector':{'b':1,'c':{'$ne':2}}},'ddoc':'x'}");

    assertThat(server.get("/d/_index").body())
        .contains(json("'partial_filter_selector':{'$and':[{'b':{'$eq':1}},{'c':{'$ne':2}}]}"));
  }

  @Test
  void a_part_of_the_list_can_be_asked_for() {
    for (int i = 0; i < 4; i++) {
      index("{'index':{'fields':['a']},'ddoc':'x" + i + "','name':'n'}");
    }
    assertThat(server.get("/d/_index?limit=2;skip=1").body())
        .contains("\"total_rows\":5", "_design/x0", "_design/x1")
        .doesNotContain("_all_docs", "_design/x2");
    assertThat(server.get("/d/_index?limit=2&skip=9").body()).contains("\"indexes\":[]");
    for (String wrong : new String[] {"limit=0", "skip=-1", "limit=x"}) {
      assertThat(server.get("/d/_index?" + wrong).member("error"))
          .isEqualTo("invalid_list_index_params");
    }
  }

  @Test
  void a_design_document_of_indexes_tells_about_them() {
    index("{'index':{'fields':['a']},'ddoc':'x','name':'n'}");
    server.put("/d/_design/views", json("{'views':{'v':{'map':'function(doc) {}'}}}"));

    assertThat(server.get("/d/_design/x/_info").body())
        .startsWith(json("{'name':'x','view_index':{'updates_pending':{'minimum':0,"))
        .contains(json("'language':'query'"), json("'updater_running':false"))
        .containsPattern(json("'signature':'[0-9a-f]{32}'"))
        .containsPattern(json("'collator_versions':\\['[0-9]+\\.[0-9]+'\\]"));
    server.get("/d/_design/none/_info").expect(404);
    server.get("/d/_design/views/_info").expect(200);
    server.post("/d/_design/x/_info", "{}").expect(405);
  }

  @Test
  void an_index_is_removed_and_at_last_its_design_document() {
    index("{'index':{'fields':['a']},'ddoc':'x','name':'n'}");
    index("{'index':{'fields':['b']},'ddoc':'x','name':'m'}");

    server.delete("/d/_index/_design/x/json/n").expect("{\"ok\":true}\n");
    assertThat(server.get("/d/_index").body()).contains("\"m\"").doesNotContain("\"n\"");
    server.delete("/d/_index/_design/x/json/n").expect(404);
    server.delete("/d/_index/x/text/m").expect(404);
    server.delete("/d/_index/_design%2Fx/json/m").expect(200);
    assertThat(server.get("/d/_design/x").member("reason")).isEqualTo("deleted");
    assertThat(index("{'index':{'fields':['a']},'ddoc':'x'}").member("result"))
        .isEqualTo("created");
  }

  @Test
  void many_are_removed_at_once() {
    index("{'index':{'fields':['a']},'ddoc':'x'}");
    index("{'index':{'fields':['b']},'ddoc':'y'}");
    index("{'index':{'fields':['c']},'ddoc':'y'}");
    server
        .post("/d/_index/_bulk_delete", json("{'docids':['x','_design/y','z'],'w':3}"))
        .expect(
            json(
                "{'success':[{'id':'_design/x','ok':true},{'id':'_design/y','ok':true}],"
                    + "'fail':[{'id':'_design/z','error':'not_found'}]}\n"));
    assertThat(server.get("/d/_index").body()).contains("\"total_rows\":1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}                                              | 400 | missing_required_key",
        "{'index':{'fields':['a']},'x':1}                | 400 | invalid_key",
        "{'index':1}                                     | 400 | invalid_index",
        "{'index':{'fields':['a']},'type':'geo'}         | 400 | invalid_index",
        "{'index':{'fields':['a']},'type':'text'}        | 503 | required index service"
            + " unavailable",
        "{'index':{'fields':['a']},'type':'nouveau'}     | 503 | required index service"
            + " unavailable",
        "{'index':{'fields':['a']},'type':1}             | 400 | invalid_string",
        "{'index':{'fields':['a']},'name':''}            | 400 | invalid_empty_string",
        "{'index':{'fields':['a']},'ddoc':''}            | 400 | invalid_empty_string",
        "{'index':{'fields':['a']},'w':0}                | 400 | invalid_pos_integer",
        "{'index':{'fields':['a']},'partitioned':1}      | 400 | invalid_partitioned_value",
        "{'index':{}}                                    | 400 | missing_required_key",
        "{'index':{'fields':[]}}                         | 400 | invalid_index",
        "{'index':{'fields':'a'}}                        | 400 | invalid_sort_json",
        "{'index':{'fields':[1]}}                        | 400 | invalid_sort_field",
        "{'index':{'fields':['']}}                       | 400 | invalid_sort_field",
        "{'index':{'fields':[{'a':'up'}]}}               | 400 | invalid_sort_field",
        "{'index':{'fields':[{'a':'asc'},{'b':'desc'}]}} | 400 | unsupported_mixed_sort",
        "{'index':{'fields':['a..b']}}                   | 400 | invalid_field_name",
        "{'index':{'fields':['a'],'y':1}}                | 400 | invalid_key",
        "{'index':{'fields':['a'],'partial_filter_selector':1}} | 400 | invalid_selector_json",
        "{'index':{'fields':['a'],'partial_filter_selector':{'b':{'$in':1}}}} | 400 | bad_arg"
      })
  void what_is_wrong_with_an_index_is_told(String body, int status, String error) {
    Answer answer = index(body).expect(status);
    assertThat(answer.member("error")).isEqualTo(error);
    assertThat(server.get("/d/_index").body()).contains("\"total_rows\":1");
  }

  @Test
  void the_design_document_must_be_of_indexes() {
    server.put("/d/_design/x", json("{'language':'javascript'}"));

    assertThat(index("{'index':{'fields':['a']},'ddoc':'x'}").member("error"))
        .isEqualTo("invalid_ddoc_lang");
  }

  @Test
  void an_index_has_so_many_fields_and_no_more() {
    index(ofFields(IndexDefinition.MAX_FIELDS)).expect(200);
    assertThat(index(ofFields(IndexDefinition.MAX_FIELDS + 1)).member("reason"))
        .isEqualTo("An index has at most 32 fields.");
  }

  private static String ofFields(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "'f" + i + "'")
        .collect(Collectors.joining(",", "{'index':{'fields':[", "]}}"));
  }

  @Test
  void names_and_definitions_are_bounded() {
    String most = "n".repeat(IndexDefinition.LONGEST_NAME);
    index("{'index':{'fields':['a']},'name':'" + most + "'}").expect(200);
    index("{'index':{'fields':['a']},'name':'" + most + "n'}").expect(400);

    int beside = "{\"fields\":[{\"\":\"asc\"}]}".length();
    String field = "f".repeat(IndexDefinition.LONGEST_DEFINITION - beside);
    index("{'index':{'fields':['" + field + "']}}").expect(200);
    index("{'index':{'fields':['f" + field + "']}}").expect(400);
  }

  @Test
  void a_database_has_so_many_indexes_and_no_more() {
    for (int i = 0; i < IndexDefinition.MAX_INDEXES; i++) {
      index("{'index':{'fields':['a']},'name':'n" + i + "','ddoc':'x'}").expect(200);
    }
    assertThat(index("{'index':{'fields':['a']},'name':'m','ddoc':'x'}").member("error"))
        .isEqualTo("too_many_indexes");
    assertThat(server.get("/d/_index").body()).contains("\"total_rows\":65");
  }

  @Test
  void an_index_is_partitioned_as_its_database_is() {
    server.put("/p?partitioned=true");
    String body = json("{'index':{'fields':['a']},'ddoc':'x'}");
    String global = json("{'index':{'fields':['a']},'ddoc':'y','partitioned':false}");

    server.post("/p/_index", body).expect(200);
    server.post("/p/_index", global).expect(200);
    assertThat(server.get("/p/_index").body())
        .contains("\"partitioned\":true", "\"partitioned\":false");
    assertThat(
            server.post("/p/_index", json("{'index':{'fields':['b']},'ddoc':'y'}")).member("error"))
        .isEqualTo("invalid_partitioned_option");
    assertThat(
            server
                .post("/d/_index", json("{'index':{'fields':['b']},'partitioned':true}"))
                .member("error"))
        .isEqualTo("invalid_design_doc");
  }

  @Test
  void one_definition_is_of_two_design_documents_if_one_is_partitioned_and_one_is_not() {
    server.put("/p?partitioned=true");
    Answer partitioned = server.post("/p/_index", json("{'index':{'fields':['a']}}"));
    String body = json("{'index':{'fields':['a']},'partitioned':false}");
    Answer global = server.post("/p/_index", body);

    assertThat(global.member("result")).isEqualTo("created");
    assertThat(global.member("id")).isNotEqualTo(partitioned.member("id"));
    assertThat(server.post("/p/_index", body).member("result")).isEqualTo("exists");
  }

  /** Starts a server with an index of one document that no job will finish. */
  private LectusServer withUnbuilt(int patienceSeconds) {
    LectusServer server =
        LectusServer.start(
            store, new TestSettings().with(HttpKeys.REQUEST_SECONDS, patienceSeconds));
    server.put("/d");
    server.write("/d/one", "{\"a\":1}");
    String index = json("{'index':{'fields':['a']},'ddoc':'x','name':'n'}");
    server.post("/d/_index", index).expect(200);
    mark(false);
    return server;
  }

  private void mark(boolean isReadable) {
    transactions.run(
        tx -> {
          DatabaseHandle db = catalogue.current(tx, DatabaseName.of("d"));
          StoredIndex index = db.indexes().all().get(0);
          new DerivedSubspace(db.prefix())
              .put(tx, new StoredIndex(index.number(), index.definition(), isReadable));
          catalogue.moveVersion(tx, db);
          return null;
        });
  }

  @Test
  void a_query_waits_for_it() {
    try (LectusServer server = withUnbuilt(30);
        Connection sorted = server.request("POST", "/d/_find").json(json(SORTED)).open();
        Connection named = server.request("POST", "/d/_find").json(json(NAMED)).open()) {
      Answer other = server.post("/d/_find", json("{'selector':{'a':1}}"));
      assertThat(other.body()).contains("\"one\"", "warning");
      mark(true);

      assertThat(sorted.read(false).body()).contains("\"one\"");
      assertThat(named.read(false).body()).contains("\"one\"");
    }
  }

  @Test
  void a_query_that_waits_too_long_is_told_why() {
    try (LectusServer server = withUnbuilt(1)) {
      Answer answer = server.post("/d/_find", json(SORTED)).expect(400);
      assertThat(answer.body()).contains("no_usable_index", "is being built");
      String useless = json("{'selector':{'b':1},'sort':['b']}");
      assertThat(server.post("/d/_find", useless).body())
          .contains("no_usable_index")
          .doesNotContain("is being built");
    }
  }

  /**
   * Selectors of indexes and stored feeds that would take a write too long, and queries that look
   * at every document and take long for each.
   */
  @Nested
  class CostlySelectors {
    /** Some ten instructions for each character. */
    private static final String COSTLY = "{\"t\":{\"$regex\":\"(x|y|z)*(x|y|z)*0$\"}}";

    private static final String CHEAP = "{\"n\":1}";

    /** What one selector can look at, but not two of them. */
    private static final String LONG = "x".repeat(40_000);

    private static final String LONGER = "x".repeat(100_000);

    private static final int DOCUMENTS = 2_000;

    private static final int BATCH = 400;

    private static final int CLIENTS = 20;

    private static final int REQUESTS = 4;

    @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

    @RegisterExtension static final TestStores stores = SoundStore.stores();

    private Answer index(String name, String filter) {
      return server.post(
          "/w/_index",
          ("{\"index\":{\"fields\":[\"n\"],\"partial_filter_selector\":" + filter + "},\"ddoc\":\"")
              + (name + "\",\"name\":\"" + name + "\"}"));
    }

    private Answer feed(String name, String selector) {
      return server.put("/w/_feeds/" + name, "{\"selector\":" + selector + "}");
    }

    private String write(String id, String rev, String text) {
      String base = rev.isEmpty() ? "" : "\"_rev\":\"" + rev + "\",";
      return server.write("/w/" + id, "{" + base + "\"n\":1,\"t\":\"" + text + "\"}");
    }

    private String refusedByIndex(String name) {
      return server
          .get("/w/_index")
          .body()
          .replaceAll(".*\"name\":\"" + name + "\"", "")
          .replaceAll("\"name\":.*", "");
    }

    private String inIndex(String name) {
      return server
          .post(
              "/w/_find",
              "{\"selector\":{\"n\":1},\"fields\":[\"_id\"],\"use_index\":\"" + name + "\"}")
          .body();
    }

    private String changes(String feed) {
      return server.get("/w/_changes?filter=_feed/" + feed).body();
    }

    @Test
    void a_definition_has_so_many_instructions_at_most() {
      String most = "{\"t\":{\"$regex\":\"" + "a".repeat(498) + "\"}}";
      String more = "{\"t\":{\"$regex\":\"" + "a".repeat(499) + "\"}}";

      index("most", most).expect(200);
      index("more", more).expect(400);
      assertThat(index("more", more).member("error")).isEqualTo("invalid_index");
      feed("most", most).expect(201);
      feed("more", more).expect(400);
      assertThat(feed("more", more).member("error")).isEqualTo("invalid_selector");
    }

    @Test
    void a_document_for_which_a_selector_takes_too_much_work_is_left_out_by_name() {
      index("i", COSTLY);
      feed("f", COSTLY);
      String short0 = "x".repeat(9_000) + "0";
      String rev = write("d", "", LONGER);
      write("e", "", short0);

      assertThat(refusedByIndex("i"))
          .contains("\"refused\":[{\"id\":\"d\"")
          .doesNotContain("\"e\"");
      assertThat(server.get("/w/_feeds/f").body()).contains("\"refused\":[{\"id\":\"d\"");
      assertThat(changes("f")).contains("\"id\":\"e\"").doesNotContain("\"id\":\"d\"");

      rev = write("d", rev, short0);
      assertThat(refusedByIndex("i")).doesNotContain("refused");
      assertThat(server.get("/w/_feeds/f").body()).doesNotContain("refused");
      assertThat(changes("f")).contains("\"id\":\"d\"");

      rev = write("d", rev, LONGER);
      assertThat(refusedByIndex("i")).contains("refused");
      assertThat(changes("f")).doesNotContain("\"id\":\"d\"");
      server.delete("/w/d?rev=" + rev).expect(200);
      assertThat(refusedByIndex("i")).doesNotContain("refused");
      assertThat(server.get("/w/_feeds/f").body()).doesNotContain("refused");
    }

    @Test
    void all_share_what_a_write_may_take_and_a_cheap_one_is_never_left_without() {
      index("i1", COSTLY);
      index("i2", COSTLY);
      index("i3", CHEAP);
      feed("f1", COSTLY);
      feed("f2", CHEAP);
      String rev = write("d", "", LONG + "0");

      assertThat(refusedByIndex("i1")).doesNotContain("refused");
      assertThat(inIndex("i1")).contains("\"d\"");
      assertThat(refusedByIndex("i2")).contains("refused");
      assertThat(inIndex("i3")).contains("\"d\"");
      assertThat(server.get("/w/_feeds/f1").body()).contains("refused");
      assertThat(changes("f2")).contains("\"d\"");

      server.delete("/w/_index/i1/json/i1").expect(200);
      rev = write("d", rev, LONG + "0");
      assertThat(refusedByIndex("i2")).doesNotContain("refused");
      assertThat(inIndex("i2")).contains("\"d\"");

      index("i1", COSTLY);
      assertThat(inIndex("i1")).as("alone it has room for it").contains("\"d\"");
      rev = write("d", rev, LONG + "0");
      assertThat(refusedByIndex("i2")).doesNotContain("refused");
      assertThat(refusedByIndex("i1")).contains("refused");
      assertThat(inIndex("i1")).doesNotContain("\"d\"");
      write("d", rev, "0");
      assertThat(refusedByIndex("i1")).doesNotContain("refused");
    }

    @Test
    void live_readers_see_what_the_feed_took() {
      index("i", COSTLY);
      feed("f", COSTLY);
      try (Connection live =
          server.request("GET", "/w/_changes?feed=continuous&filter=_feed/f&since=now").open()) {
        live.readHead();
        write("refused", "", LONG + "0");
        write("taken", "", "0");

        assertThat(live.chunkText()).contains("\"id\":\"taken\"").doesNotContain("\"refused\"");
      }
      assertThat(changes("f")).contains("\"taken\"").doesNotContain("\"refused\"");
    }

    @Test
    void a_bulk_of_documents_that_are_all_costly_is_written() {
      for (int i = 0; i < 4; i++) {
        index("i" + i, COSTLY);
      }
      StringBuilder docs = new StringBuilder("{\"docs\":[");
      for (int i = 0; i < 30; i++) {
        docs.append(i == 0 ? "" : ",").append("{\"n\":1,\"t\":\"" + LONG + "\"}");
      }
      Answer answer = server.post("/w/_bulk_docs", docs + "]}").expect(201);
      assertThat(answer.body()).doesNotContain("error");
      assertThat(server.get("/w").body()).contains("\"doc_count\":34,");
    }

    @Test
    void other_clients_are_answered_meanwhile_and_they_end_when_their_clients_leave() {
      try (LectusServer server = LectusServer.start(stores.fresh())) {
        server.put("/w");
        for (int from = 0; from < DOCUMENTS; from += BATCH) {
          server.post("/w/_bulk_docs", documents(from)).expect(201);
        }
        List<Connection> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          clients.add(server.request("POST", "/w/_find").json(query()).open());
        }
        Await.until("they are answered", CostlySelectors::isMatching);
        for (int i = 0; i < REQUESTS; i++) {
          server.get("/w/d" + i).expect(200);
          assertThat(server.post("/w/_find", "{\"selector\":{\"_id\":\"d1\"}}").body())
              .contains("d1");
        }
        Await.until("they are still answered", CostlySelectors::isMatching);
        clients.forEach(Connection::close);
        Await.until("nobody is answered", () -> !isMatching());
      }
    }

    private static String documents(int from) {
      String text = "x".repeat(1_000);
      return IntStream.range(from, from + BATCH)
          .mapToObj(i -> "{\"_id\":\"d" + i + "\",\"t\":\"" + text + "\"}")
          .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
    }

    /** Each alternative looks at all of each text. */
    private static String query() {
      return IntStream.range(0, 20)
          .mapToObj(i -> "{\"t\":{\"$regex\":\"(x+x+)+(x+x+)+y" + i + "\"}}")
          .collect(Collectors.joining(",", "{\"selector\":{\"$or\":[", "]}}"));
    }

    private static boolean isMatching() {
      return Thread.getAllStackTraces().values().stream()
          .flatMap(Arrays::stream)
          .anyMatch(frame -> frame.getClassName().equals("lectus.mango.query.FindPage"));
    }
  }
}
