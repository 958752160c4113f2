package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Broken design documents, and functions that do not compile. */
final class DesignDocumentsTest {
  private static final String BROKEN =
      "\"views\":{\"v\":{\"map\":\"function(doc) {\\n  emit(;\\n}\"}}";

  private static final String REASON =
      "Compilation of the map function in the 'v' view failed: SyntaxError: ";

  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  /** Recorded from CouchDB 3.5.2. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'views':'x'} | `views` field must have object type",
        "{'views':[]} | `views` field must have object type",
        "{'views':null} | `views` field must have object type",
        "{'filters':'x'} | `filters` field must have object type",
        "{'filters':{'f':7}} | `filters.f` field must have string or object type",
        "{'lists':{'x':[]}} | `lists.x` field must have string or object type",
        "{'updates':{'u':true},'shows':7} | `shows` field must have object type",
        "{'updates':{'u':true}} | `updates.u` field must have string or object type",
        "{'validate_doc_update':7} | `validate_doc_update` field must have object or string type",
        "{'validate_doc_update':null} | `validate_doc_update` field must have object or string"
            + " type",
        "{'validate_doc_update':[]} | `validate_doc_update` field must have object or string type",
        "{'views':{'v':'x'}} | `views.v` field must have object type",
        "{'views':{'v':{}}} | View `v` must contain map function",
        "{'views':{'v':{'map':{}}}} | `views.v.map` field must have string type",
        "{'views':{'v':{'map':null}}} | `views.v.map` field must have string type",
        "{'language':'query','views':{'v':{'map':'x'}}} | `views.v.map` field must have object"
            + " type",
        "{'views':{'v':{'map':'f','reduce':7}}} | `views.v.reduce` field must have string type",
        "{'views':{'lib':'x'}} | `views.lib` field must have object type",
        "{'views':{'lib':{'map':{}}}} | `views.lib.map` field must have string type",
        "{'views':{'lib':{'reduce':{}}}} | `views.lib.reduce` field must have string type",
        "{'language':7} | `language` field must have string type",
        "{'rewrites':7} | `rewrites` field must have array or string type",
        "{'rewrites':{}} | `rewrites` field must have array or string type",
        "{'options':7} | `options` field must have object type",
        "{'options':{'local_seq':'x'}} | `options.local_seq` field must have boolean type",
        "{'options':{'partitioned':true}} | partitioned option cannot be true in a non-partitioned"
            + " database.",
        "{'views':{'v':{'map':'f','reduce':'_nope'}}} | `_nope` is not a supported reduce"
            + " function.",
        "{'views':{'v':{'map':'f','reduce':'_top_x'}}} | invalid rank reducer",
        "{'views':{'v':{'map':'f','reduce':'_top_101'}}} | rank value must be between 1 and 100",
        "{'views':{'v':{'map':'f','reduce':'_bottom_0'}}} | rank value must be between 1 and 100",
        "{'_deleted':true,'views':'x'} | `views` field must have object type",
      })
  void broken_ones_are_refused(String json, String reason) {
    String error = "\"error\":\"invalid_design_doc\",\"reason\":\"" + reason + "\"}";
    String document = json.replace('\'', '"');

    server.put("/w/_design/d", document).expect(400, "{" + error + "\n");
    server
        .put("/w/_design/d?new_edits=false", document.replaceFirst("\\{", json("{'_rev':'1-a',")))
        .expect("{" + error + "\n");
    String row = document.replaceFirst("\\{", "{\"_id\":\"_design/d\",\"_rev\":\"1-a\",");
    server
        .post(
            "/w/_bulk_docs",
            json("{'new_edits':false,'docs':[%s,{'_id':'x','_rev':'1-a'}]}").formatted(row))
        .expect(
            201,
            json("[{'id':'_design/d','rev':'1-a','error':'forbidden','reason':'invalid_design_doc:"
                    + " %s'}]\n")
                .formatted(reason));
    server.get("/w/x").expect(200);
    assertThat(server.put("/w/d", document).status()).isIn(200, 201);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"views\":{}}",
        "{\"views\":{\"lib\":{\"x\":7},\"v\":{\"map\":\"doc => {}\",\"reduce\":\"_count\"}}}",
        "{\"views\":{\"v\":{\"map\":\"doc => {}\",\"reduce\":\"_top_100\"}}}",
        "{\"views\":{\"v\":{\"map\":\"doc => {}\",\"reduce\":\"function (k, v) {}\"}}}",
        "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{},\"reduce\":\"_count\"}}}",
        "{\"language\":\"erlang\",\"views\":{\"v\":{\"map\":\"f\",\"reduce\":\"_nope\"}}}",
        "{\"rewrites\":[],\"filters\":{\"f\":\"x\",\"g\":{}},\"options\":{\"local_seq\":false}}",
        "{\"more\":7,\"filter\":7}"
      })
  void whatever_is_not_broken_is_stored(String json) {
    server.put("/w/_design/d", json).expect(201);
  }

  @Test
  void the_partitioned_option_is_for_partitioned_databases() {
    server.put("/p?partitioned=true");

    server.put("/p/_design/d", "{\"options\":{\"partitioned\":true}}").expect(201);
  }

  @Test
  void a_client_is_told_line_and_column() {
    Answer answer = server.put("/w/_design/d", "{" + BROKEN + "}").expect(400);
    assertThat(answer.body())
        .startsWith(json("{'error':'compilation_error','reason':'%s").formatted(REASON))
        .contains("(line 2, column 8)");
    server.get("/w/_design/d").expect(404);
    server.put("/w/_design/d", "{" + BROKEN.replace("(;", "(1);") + "}").expect(201);
  }

  @Test
  void the_server_says_which_engine_it_has() {
    assertThat(server.get("/_node/_local/_versions").body())
        .containsPattern("\"javascript_engine\":\\{\"name\":\"v8\",\"version\":\"[0-9.]+\"}");
  }

  @Test
  void the_others_of_a_request_are_stored() {
    Answer answer =
        server.post(
            "/w/_bulk_docs",
            json("{'docs':[{'_id':'a'},{'_id':'b','_rev':'1-a'},{'_id':'_design/d',%s},{'_id':'c','_rev':'1-a'},{'_id':'_design/e'},{'_id':'f'}]}")
                .formatted(BROKEN));
    assertThat(answer.body())
        .containsSubsequence(
            json("'id':'a','rev'"),
            json("'id':'b','error':'conflict'"),
            json("'id':'_design/d','error':'compilation_error','reason':'%s").formatted(REASON),
            json("'id':'c','error':'conflict'"),
            json("'id':'_design/e','rev'"),
            json("'id':'f','rev'"));
    server.get("/w/_design/d").expect(404);
  }

  @Test
  void an_atomic_request_stores_nothing() {
    Answer answer =
        server
            .post(
                "/w/_bulk_docs",
                json("{'atomic':true,'docs':[{'_id':'a'},{'_id':'_design/d',%s}]}")
                    .formatted(BROKEN))
            .expect(400);
    assertThat(answer.body()).startsWith("{\"error\":\"compilation_error\"");
    server.get("/w/a").expect(404);
  }

  @Test
  void what_a_replicator_brings_and_what_is_deleted_is_stored() {
    server
        .post(
            "/w/_bulk_docs",
            json("{'new_edits':false,'docs':[{'_id':'_design/d','_rev':'1-a',%s}]}")
                .formatted(BROKEN))
        .expect("[]\n");
    server.get("/w/_design/d").expect(200);
    server.put("/w/_design/d", "{\"_rev\":\"1-a\",\"_deleted\":true," + BROKEN + "}").expect(200);
  }
}
