package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
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

  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
  }

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

    Answer put = server.put("/w/_design/d", document);
    assertThat(put.status()).isEqualTo(400);
    assertThat(put.body()).isEqualTo("{" + error + "\n");
    assertThat(
            server
                .put(
                    "/w/_design/d?new_edits=false",
                    document.replaceFirst("\\{", "{\"_rev\":\"1-a\","))
                .body())
        .isEqualTo("{" + error + "\n");
    String row = document.replaceFirst("\\{", "{\"_id\":\"_design/d\",\"_rev\":\"1-a\",");
    Answer bulk =
        server.post(
            "/w/_bulk_docs",
            "{\"new_edits\":false,\"docs\":[" + row + ",{\"_id\":\"x\",\"_rev\":\"1-a\"}]}");
    assertThat(bulk.status()).isEqualTo(201);
    assertThat(bulk.body())
        .isEqualTo(
            "[{\"id\":\"_design/d\",\"rev\":\"1-a\",\"error\":\"forbidden\",\"reason\":"
                + "\"invalid_design_doc: "
                + reason
                + "\"}]\n");
    assertThat(server.get("/w/x").status()).isEqualTo(200);
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
    assertThat(server.put("/w/_design/d", json).status()).isEqualTo(201);
  }

  @Test
  void the_partitioned_option_is_for_partitioned_databases() {
    server.put("/p?partitioned=true");

    assertThat(server.put("/p/_design/d", "{\"options\":{\"partitioned\":true}}").status())
        .isEqualTo(201);
  }

  @Test
  void a_client_is_told_line_and_column() {
    Answer answer = server.put("/w/_design/d", "{" + BROKEN + "}");
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.body())
        .startsWith("{\"error\":\"compilation_error\",\"reason\":\"" + REASON)
        .contains("(line 2, column 8)");
    assertThat(server.get("/w/_design/d").status()).isEqualTo(404);
    assertThat(server.put("/w/_design/d", "{" + BROKEN.replace("(;", "(1);") + "}").status())
        .isEqualTo(201);
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
            "{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"b\",\"_rev\":\"1-a\"},{\"_id\":\"_design/d\","
                + BROKEN
                + "},{\"_id\":\"c\",\"_rev\":\"1-a\"},{\"_id\":\"_design/e\"},{\"_id\":\"f\"}]}");
    assertThat(answer.body())
        .containsSubsequence(
            "\"id\":\"a\",\"rev\"",
            "\"id\":\"b\",\"error\":\"conflict\"",
            "\"id\":\"_design/d\",\"error\":\"compilation_error\",\"reason\":\"" + REASON,
            "\"id\":\"c\",\"error\":\"conflict\"",
            "\"id\":\"_design/e\",\"rev\"",
            "\"id\":\"f\",\"rev\"");
    assertThat(server.get("/w/_design/d").status()).isEqualTo(404);
  }

  @Test
  void an_atomic_request_stores_nothing() {
    Answer answer =
        server.post(
            "/w/_bulk_docs",
            "{\"atomic\":true,\"docs\":[{\"_id\":\"a\"},{\"_id\":\"_design/d\"," + BROKEN + "}]}");
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.body()).startsWith("{\"error\":\"compilation_error\"");
    assertThat(server.get("/w/a").status()).isEqualTo(404);
  }

  @Test
  void what_a_replicator_brings_and_what_is_deleted_is_stored() {
    assertThat(
            server
                .post(
                    "/w/_bulk_docs",
                    "{\"new_edits\":false,\"docs\":[{\"_id\":\"_design/d\",\"_rev\":\"1-a\","
                        + BROKEN
                        + "}]}")
                .body())
        .isEqualTo("[]\n");
    assertThat(server.get("/w/_design/d").status()).isEqualTo(200);
    assertThat(
            server
                .put("/w/_design/d", "{\"_rev\":\"1-a\",\"_deleted\":true," + BROKEN + "}")
                .status())
        .isEqualTo(200);
  }
}
