package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Broken design documents, and those with validation functions. */
final class DesignDocumentsTest {
  private static final String VALIDATES = "{\"validate_doc_update\":\"function () {}\"}";

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final Store store = stores.fresh();
  private final LectusServer server = LectusServer.start(store);

  @BeforeEach
  void create() {
    server.put("/w");
  }

  @AfterEach
  void stop() {
    server.close();
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
        "{\"views\":{\"lib\":{\"x\":7},\"v\":{\"map\":\"f\",\"reduce\":\"_count\"}}}",
        "{\"views\":{\"v\":{\"map\":\"f\",\"reduce\":\"_top_100\"}}}",
        "{\"views\":{\"v\":{\"map\":\"f\",\"reduce\":\"function (k, v) {}\"}}}",
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
  void writes_that_should_be_validated_are_not_implemented() {
    String rev = server.write("/w/a", "{}");
    server.put("/w/_design/v", VALIDATES);

    for (Answer answer :
        new Answer[] {
          server.put("/w/b", "{}"),
          server.post("/w", "{\"_id\":\"b\"}"),
          server.put("/w/a?rev=" + rev, "{\"v\":1}"),
          server.delete("/w/a?rev=" + rev),
          server.request("COPY", "/w/a").header("Destination", "b").send(),
          server.post("/w/_bulk_docs", "{\"atomic\":true,\"docs\":[{\"_id\":\"b\"}]}")
        }) {
      assertThat(answer.status()).isEqualTo(501);
      assertThat(answer.body())
          .contains("\"error\":\"not_implemented\"")
          .contains("_design/v")
          .contains("documents.ignore-validate-doc-update");
    }
    Answer bulk =
        server.post("/w/_bulk_docs", "{\"docs\":[{\"_id\":\"_local/x\"},{\"_id\":\"b\"}]}");
    assertThat(bulk.status()).isEqualTo(201);
    assertThat(bulk.body())
        .startsWith(
            "[{\"ok\":true,\"id\":\"_local/x\",\"rev\":\"0-1\"},"
                + "{\"id\":\"b\",\"error\":\"not_implemented\",\"reason\":");
    assertThat(server.get("/w/b").status()).isEqualTo(404);
    assertThat(server.get("/w/a").member("_rev")).isEqualTo(rev);
  }

  @Test
  void replicated_writes_pass_and_the_design_document_can_be_removed() {
    String validator = server.write("/w/_design/v", VALIDATES);

    assertThat(
            server
                .post(
                    "/w/_bulk_docs",
                    "{\"new_edits\":false,\"docs\":[{\"_id\":\"a\",\"_rev\":\"1-a\"}]}")
                .body())
        .isEqualTo("[]\n");
    assertThat(server.get("/w/a").status()).isEqualTo(200);
    server.delete("/w/_design/v?rev=" + validator);
    assertThat(server.put("/w/b", "{}").status()).isEqualTo(201);
  }

  /** A client may call any edit replicated. */
  @Test
  void members_write_nothing_that_should_be_validated() {
    Member.makeAdmin(store, "root");
    try (LectusServer other = LectusServer.start(store)) {
      Member root = new Member(other, "root");
      Member ann = new Member(other, "ann");
      root.request("PUT", "/_users").send();
      root.user("ann");
      root.admit("w", "ann");
      root.write("/w/_design/v", VALIDATES);
      String related =
          "--b\r\n"
              + "Content-Type: application/json\r\n\r\n"
              + "{\"_rev\":\"1-a\",\"_attachments\":{\"f\":{\"follows\":true,\"content_type\":\"a/b\",\"length\":1}}}\r\n"
              + "--b\r\n\r\n"
              + "x\r\n"
              + "--b--";

      for (Request request :
          new Request[] {
            ann.request("PUT", "/w/a?new_edits=false").json("{\"_rev\":\"1-a\"}"),
            ann.request("PUT", "/w/a?new_edits=false").json("{\"_rev\":\"1-a\",\"_deleted\":true}"),
            ann.request("PUT", "/w/a?new_edits=false")
                .header("Content-Type", "multipart/related; boundary=b")
                .body(related.getBytes(StandardCharsets.UTF_8)),
            ann.request("POST", "/w/_bulk_docs")
                .json("{\"new_edits\":false,\"docs\":[{\"_id\":\"a\",\"_rev\":\"1-a\"}]}"),
            ann.request("PUT", "/w/a/f?new_edits=false").body(new byte[1]),
            ann.request("COPY", "/w/_design/v?new_edits=false").header("Destination", "a")
          }) {
        Answer answer = request.send();
        assertThat(answer.body())
            .as(new String(request.bytes(), StandardCharsets.UTF_8))
            .contains("validate_doc_update of _design/v cannot be run yet");
        assertThat(root.get("/w/a").status()).as(answer.toString()).isEqualTo(404);
      }
      assertThat(ann.put("/w/_local/x", "{}").status()).isEqualTo(201);
      root.make("/w/a?new_edits=false", "{\"_rev\":\"1-a\"}");
    }
  }

  @Test
  void a_server_that_ignores_validation_writes() {
    server.put("/w/_design/v", VALIDATES);

    try (LectusServer other = LectusServer.start(store, new TestSettings().ignoringValidation())) {
      assertThat(other.put("/w/b", "{}").status()).isEqualTo(201);
    }
    assertThat(server.put("/w/c", "{}").status()).isEqualTo(501);
  }
}
