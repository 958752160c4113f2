package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
import lectus.store.testing.TestStores;
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
}
