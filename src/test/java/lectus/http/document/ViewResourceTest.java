package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.config.ScriptKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code /{db}/_design/{name}/_view/{view}}, as CouchDB 3.5 answers. */
final class ViewResourceTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static LectusServer server;

  @BeforeAll
  static void create() {
    server = LectusServer.start(stores.fresh());
    server.put("/d");
    server.post(
        "/d/_bulk_docs",
        json(
            "{'docs':[{'_id':'a','k':[1,'x'],'v':1},{'_id':'b','k':[1,'y'],'v':2},"
                + "{'_id':'c','k':'z','v':3,'of':'a'},{'_id':'e','k':{'b':1,'a':2},'v':4}]}"));
    server.write(
        "/d/_design/v",
        json(
            "{'views':{'m':{'map':'function(doc){emit(doc.k,doc.of?{_id:doc.of}:doc.v)}'},"
                + "'s':{'map':'function(doc){emit(doc.k,doc.v)}','reduce':'_sum'},"
                + "'j':{'map':'function(doc){emit(doc.k,doc.v)}','reduce':'function(k,v,r){return"
                + " sum(v)}'},'each':{'map':'function(doc){for(var i=0;i<2;i++)emit(i,doc.v)}'},"
                + "'named':{'map':'function(doc){if(doc.v<3)emit(doc.v,{_rev:doc.v>1?doc._rev:\\'1-a\\'})}'},"
                + "'top':{'map':'function(doc){emit(1,doc.v);emit(1,doc.v)}','reduce':'_top_3'},"
                + "'low':{'map':'function(doc){emit(1,doc.v);emit(1,doc.v)}','reduce':'_bottom_2'},"
                + "'first':{'map':'function(doc){emit(doc._id,doc.v)}','reduce':'_first'},"
                + "'last':{'map':'function(doc){emit(doc._id,doc.v)}','reduce':'_last'},"
                + "'long':{'map':'function(doc){emit(doc.v,1)}','reduce':'function(k,v,r){return"
                + " \\'x\\'.repeat(5000)}'},"
                + "'bad':{'map':'function(doc){emit(doc.k,doc._id)}','reduce':'_sum'},"
                + "'raw':{'map':'function(doc){emit(doc.k,doc.v)}','options':{'collation':'raw'}},'throws':{'map':'function(doc){if(doc.v>1)throw"
                + " 1;emit(doc._id,doc._rev)}'}}}"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String rows(String query) {
    Answer answer = server.get("/d/_design/v/_view/" + query);
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return answer.body().replace('"', '\'').replace("\r\n", "");
  }

  @Test
  void rows_are_in_the_order_of_their_keys() {
    server
        .get("/d/_design/v/_view/s?reduce=false&limit=2")
        .expect(
            json("{'total_rows':4,'offset':0,'rows':[\r\n")
                + json("{'id':'c','key':'z','value':3},\r\n")
                + json("{'id':'a','key':[1,'x'],'value':1}\r\n]}\n"));
    assertThat(rows("s?reduce=false&descending=true&skip=1&limit=1"))
        .isEqualTo("{'total_rows':4,'offset':1,'rows':[{'id':'b','key':[1,'y'],'value':2}]}\n");
    assertThat(rows("m?keys=[]&skip=2")).isEqualTo("{'total_rows':4,'offset':2,'rows':[]}\n");
    assertThat(rows("raw?limit=1"))
        .isEqualTo(
            "{'total_rows':4,'offset':0,'rows':[{'id':'e','key':{'b':1,'a':2},'value':4}]}\n");
    assertThat(rows("s?reduce=false&startkey=[1]&endkey=[1,{}]&inclusive_end=false"))
        .contains("'offset':1", "'id':'a'", "'id':'b'")
        .doesNotContain("'id':'c'", "'id':'e'");
    assertThat(rows("s?reduce=false&key=[1,%22x%22]&startkey_docid=b")).endsWith("'rows':[]}\n");
    assertThat(rows("throws")).contains("'total_rows':1", "'id':'a'");
  }

  @Test
  void a_value_may_name_the_document_to_show() {
    assertThat(rows("m?include_docs=true&key=%22z%22"))
        .contains("'value':{'_id':'a'},'doc':{'_id':'a','_rev':'1-");
    assertThat(rows("m?include_docs=true&key=[1,%22y%22]")).contains("'doc':{'_id':'b'");
    assertThat(rows("named?include_docs=true"))
        .contains("'value':{'_rev':'1-a'},'doc':null}", "'doc':{'_id':'b'");
    server.put("/r");
    server.post(
        "/r/_bulk_docs",
        json(
            "{'new_edits':false,'docs':[{'_id':'x','_rev':'1-b','n':'lost'},"
                + "{'_id':'x','_rev':'1-c','n':'won'}]}"));
    server.write(
        "/r/_design/v",
        json(
            "{'views':{'m':{'map':'function(doc){emit(1,{_rev:\\'1-b\\'});"
                + "emit(2,{_id:\\'x\\'});emit(3,{_id:null})}'}}}"));
    assertThat(server.get("/r/_design/v/_view/m?include_docs=true&conflicts=true").body())
        .contains(
            json("'doc':{'_id':'x','_rev':'1-b','n':'lost'}"),
            json("'doc':{'_id':'x','_rev':'1-c','n':'won','_conflicts':['1-b']}"),
            json("'value':{'_id':null},'doc':null"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          s                              | {'rows':[{'key':null,'value':10}]}
          s?group=true&limit=2           | {'rows':[{'key':'z','value':3},{'key':[1,'x'],'value':1}]}
          s?group_level=1&skip=1&limit=1 | {'rows':[{'key':[1],'value':3}]}
          s?group_level=1&group=true&keys=[[1,%22x%22]] | {'rows':[{'key':[1],'value':1}]}
          s?group_level=0&group=true     | {'rows':[{'key':null,'value':10}]}
          s?keys=[%22z%22]               | {'rows':[{'key':null,'value':3}]}
          j?group_level=1&descending=true&skip=1&limit=1 | {'rows':[{'key':[1],'value':3}]}
          j?key=%22none%22               | {'rows':[]}
          j?limit=0                      | {'rows':[]}
          top                            | {'rows':[{'key':null,'value':[4,3,2]}]}
          first                          | {'rows':[{'key':null,'value':1}]}
          last                           | {'rows':[{'key':null,'value':4}]}
          low                            | {'rows':[{'key':null,'value':[1,2]}]}
          s?group=true&keys=[[1,%22y%22],%22z%22] | {'rows':[{'key':[1,'y'],'value':2},{'key':'z','value':3}]}
          """)
  void rows_are_reduced(String query, String body) {
    assertThat(rows(query).strip()).isEqualTo(body.replace('"', '\''));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          keys=[1,0]&startkey_docid=b&endkey_docid=c | 1b 1c 0b 0c
          keys=[0,1]&descending=true                 | 1e 1c 1b 1a 0e 0c 0b 0a
          keys=[0,1]&descending=true&startkey_docid=c&endkey_docid=b&skip=1&limit=2 | 1b 0c
          keys=[0]&startkey_docid=c&endkey_docid=b   | ''
          keys=[7,0]&startkey_docid=c                | 0c 0e
          keys=[0]&inclusive_end=false               | ''
          keys=[0]&key=0&startkey_docid=c            | 0c 0e
          """)
  void ids_and_directions_count_for_each_key(String query, String expected) {
    StringBuilder found = new StringBuilder();
    Matcher row = Pattern.compile("'id':'(.)','key':(.)").matcher(rows("each?" + query));
    while (row.find()) {
      found.append(' ').append(row.group(2)).append(row.group(1));
    }
    assertThat(found.toString().strip()).isEqualTo(expected);
  }

  @Test
  void a_reduction_that_is_too_long_is_told_in_its_row() {
    assertThat(rows("long?group=true&limit=1"))
        .contains("{'key':1,'error':'reduce_overflow_error','reason':'Reduce output must shrink");
  }

  @Test
  void a_document_whose_map_does_not_end_is_named() {
    TestSettings hasty = new TestSettings().with(ScriptKeys.TIMEOUT_SECONDS, 2);
    try (LectusServer impatient = LectusServer.start(stores.fresh(), hasty)) {
      impatient.put("/l");
      impatient.post("/l/_bulk_docs", json("{'docs':[{'_id':'a'},{'_id':'b'}]}"));
      impatient.write(
          "/l/_design/v",
          json("{'views':{'m':{'map':'function(doc){while(doc._id===\\'a\\');emit(1)}'}}}"));
      assertThat(impatient.get("/l/_design/v/_view/m").body())
          .contains(json("'total_rows':1,"), json("'id':'b'"));
      assertThat(impatient.get("/l/_design/v/_info").body())
          .contains(json("'refused':[{'id':'a','reason':'"));
    }
  }

  /** Written by a client these are refused; a replicator brings whatever there is. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'javascript' | function (doc | Compilation of the map function in the 'bad' view failed: SyntaxError
          'erlang'     | fun() -> 1.   | Compilation of the map function in the 'good' view failed: the language erlang
          """,
      quoteCharacter = '`')
  void a_replicated_view_that_does_not_compile_says_so(String language, String map, String said) {
    String db = "/compiled-" + language.replace("'", "");
    server.put(db);
    server.write(db + "/a", "{}");
    server.put(
        db + "/_design/v?new_edits=false",
        json(
            "{'_rev':'1-a','language':"
                + language
                + ",'views':{'good':{'map':'function(doc){emit(1)}'},'bad':{'map':'"
                + map
                + "'}}}"));
    Answer answer = server.get(db + "/_design/v/_view/good");
    assertThat(answer.status()).as(answer.body()).isEqualTo(400);
    assertThat(answer.member("error")).isEqualTo("compilation_error");
    assertThat(answer.member("reason")).asString().startsWith(said);
  }

  @Test
  void a_value_that_cannot_be_summed_up_is_told_in_the_row() {
    assertThat(rows("bad")).contains("'value':{'error':'builtin_reduce_error','reason':'The _sum");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          none                     | 404 | missing_named_view
          m?reduce=true            | 400 | Reduce is invalid for map-only views.
          m?group=true             | 400 | Invalid use of grouping on a map view.
          s?include_docs=true      | 400 | `include_docs` is invalid for reduce
          s?conflicts=true         | 400 | `conflicts` is invalid for reduce views.
          s?keys=[1,2]             | 400 | Multi-key fetches for reduce views must use `group=true`
          m?keys=[1]&startkey=2    | 400 | No rows can match your key range, reverse your start_key and end_key or set descending=true
          m?reduce=true&group=false&group_level=1 | 400 | Can't specify group=false and group_level>0 at the same time
          s?keys=[1,2]&group=true&group_level=0 | 400 | Multi-key fetches for reduce views must use `group=true`
          m?keys=[1,2]&key=1       | 400 | `keys` is incompatible with `key`, `start_key` and `end_key`
          m?startkey=2&endkey=1    | 400 | No rows can match your key range, reverse your start_key and end_key or set descending=true
          m?startkey=%22%22&end_key=1 | 400 | No rows can match your key range, reverse your start_key and end_key or set descending=true
          m?update=perhaps         | 400 | Invalid value for `update`.
          m?partition=x            | 400 | `partition` parameter is not supported in this design doc
          """)
  void errors_are_those_of_couchdb(String query, int status, String reason) {
    Answer answer = server.get("/d/_design/v/_view/" + query).expect(status);
    assertThat(answer.member("reason")).isEqualTo(reason);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          _design/v/_view/m | []         | 400 | bad_request | Request body must be a JSON object
          _design/v/_view/m | {'keys':1} | 400 | bad_request | `keys` member must be an array.
          _all_docs         | {'keys':1} | 400 | bad_request | `keys` body member must be an array.
          _temp_view        | {}         | 410 | gone        | Temporary views are not supported in CouchDB
          """)
  void bodies_are_refused_as_in_couchdb(
      String path, String body, int status, String error, String reason) {
    Answer answer = server.post("/d/" + path, body.replace('\'', '"')).expect(status);
    assertThat(answer.member("error")).isEqualTo(error);
    assertThat(answer.member("reason")).isEqualTo(reason);
  }

  @Test
  void several_queries_have_one_answer() {
    server
        .post(
            "/d/_design/v/_view/s/queries",
            json("{'queries':[{'reduce':false,'limit':1},{'keys':['z'],'group':true}]}"))
        .expect(
            json("{'results':[\r\n{'total_rows':4,'offset':0,'rows':[\r\n")
                + json("{'id':'c','key':'z','value':3}\r\n]},\r\n{'rows':[\r\n")
                + json("{'key':'z','value':3}\r\n]}\r\n]}\n"));
    server
        .post("/d/_design/v/_view/s", json("{'group':true,'keys':['z']}"))
        .expect(json("{'rows':[\r\n{'key':'z','value':3}\r\n]}\n"));
  }

  @Test
  void partitions_have_rows_of_their_own() {
    server.put("/p?partitioned=true");
    server.post(
        "/p/_bulk_docs",
        json("{'docs':[{'_id':'x:1','v':2},{'_id':'y:1','v':1},{'_id':'y:2','v':0}]}"));
    server.write(
        "/p/_design/v",
        json("{'views':{'s':{'map':'function(doc){emit(doc.v,doc.v)}','reduce':'_count'}}}"));

    server
        .get("/p/_partition/y/_design/v/_view/s?reduce=false")
        .expect(
            json("{'total_rows':2,'offset':0,'rows':[\r\n{'id':'y:2','key':0,'value':0},\r\n")
                + json("{'id':'y:1','key':1,'value':1}\r\n]}\n"));
    server
        .get("/p/_partition/x/_design/v/_view/s")
        .expect(json("{'rows':[\r\n{'key':null,'value':1}\r\n]}\n"));
    assertThat(server.get("/p/_design/v/_view/s").member("reason"))
        .isEqualTo("`partition` parameter is mandatory for queries to this view.");
  }

  @Test
  void an_index_is_there_until_it_is_cleaned_up() {
    server.put("/c");
    server.put("/c/a", "{}");
    String rev =
        server.write("/c/_design/v", json("{'views':{'m':{'map':'function(doc){emit(1)}'}}}"));
    assertThat(server.get("/c/_design/v/_view/m?update=false").body())
        .startsWith(json("{'total_rows':0,"));
    assertThat(server.get("/c/_design/v/_view/m").body()).startsWith(json("{'total_rows':1,"));
    assertThat(server.get("/c/_design/v/_info").body())
        .contains(json("'updates_pending':{'minimum':0"));
    server.delete("/c/_design/v?rev=" + rev);
    server.get("/c/_design/v/_view/m").expect(404);
    server.post("/c/_view_cleanup", "{}").expect(202);
  }
}
