package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.config.ScriptKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
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

  /** {@code _update}: functions that make a document and an answer. */
  @Nested
  class UpdateFunctions {
    private static final String DESIGN =
        """
        {"updates":{
          "hello":"function(doc, req) {
              if (!doc) { return req.id ? [{_id: req.id, by: req.userCtx.name}, '<p>New World</p>'] : [null, '<p>Empty World</p>']; }
              doc.world = 'hello'; return [doc, '<p>hello doc</p>']; }",
          "form":"function(doc, req) { for (var f in req.form) { doc[f] = req.form[f]; } return [doc, 'ok']; }",
          "stale":"function(doc) { doc._rev = '1-abc'; delete doc._revisions; return [doc, 'x']; }",
          "delete":"function(doc) { doc._deleted = true; return [doc, {json: {gone: true}}]; }",
          "uuid":"function(doc, req) { return [null, req.uuid]; }",
          "noId":"function() { return [{}, 'oops']; }",
          "binary":"function(doc) { return [doc, {headers: {'Content-Type': 'application/octet-stream'}, base64: 'aGVsbG8gd29ybGQh'}]; }",
          "redirect":"function(doc, req) { return [{_id: req.uuid}, {code: 302, json: {ok: true}, headers: {Location: '/w', 'X-Own': 'a\\\\nb'}}]; }",
          "harmful":"function() { return [null, {body: 'x', headers: {'Set-Cookie': 'a=b', 'set-cookie': 'c=d', Connection: 'close', 'Content-Length': '9', 'Transfer-Encoding': 'chunked', 'Access-Control-Allow-Origin': '*', 'Content-Security-Policy': 'none', 'X-Couch-Id': 'x', 'bad name': 'x', 'X-Good': 1, 'Content-Encoding': 'br', 'content-range': 'x', Vary: 'X-Good'}}]; }",
          "longHeaders":"function(doc, req) { return [null, {headers: {'X-Long': new Array(req.query.n - 5).join('x')}}]; }",
          "design":"function() { return [{_id: '_design/new'}, 'x']; }",
          "member":"function() { return [null, {codee: 3}]; }",
          "code":"function() { return [null, {code: 7}]; }",
          "number":"function() { return [null, 7]; }",
          "base64":"function() { return [null, {base64: '*'}]; }",
          "nothing":"function() { }",
          "throws":"function() { superFail.badCrash; }",
          "forbids":"function() { throw {forbidden: 'not you'}; }",
          "broken":"function( {",
          "endless":"function() { while (true) {} }",
          "bomb":"function() { var a = []; while (true) { a.push(new Array(100000).join('x')); } }",
          "large":"function() { return [null, new Array(6000000).join('x')]; }"}}
        """
            .replace("\n", " ");

    private static final String UPDATE = "/w/_design/d/_update/";

    @RegisterExtension static final TestStores stores = SoundStore.stores();

    @RegisterExtension static final LectusServer server = LectusServer.shared();

    @BeforeEach
    void create() {
      create(server);
    }

    private static void create(LectusServer server) {
      server.put("/w");
      server.put("/w/_design/d", DESIGN).expect(201);
    }

    private static Answer update(String function) {
      return server.request("POST", UPDATE + function).send();
    }

    @Test
    void a_document_is_made_and_changed() {
      Answer made =
          server.request("PUT", UPDATE + "hello/a").send().expect(201, "<p>New World</p>");
      assertThat(made.header("content-type")).isEqualTo("text/html; charset=utf-8");
      assertThat(made.header("content-security-policy")).isEqualTo("sandbox");
      assertThat(made.header("x-couch-id")).isEqualTo("a");
      String rev = server.get("/w/a").member("_rev");
      assertThat(made.header("x-couch-update-newrev")).isEqualTo(rev);

      Answer changed = update("hello/a").expect(201);
      assertThat(changed.header("x-couch-update-newrev")).startsWith("2-");
      assertThat(server.get("/w/a").member("world")).isEqualTo("hello");
      assertThat(server.get("/w/a?revs=true").body()).contains(rev.substring(2));
    }

    @Test
    void nothing_is_written_without_a_document() {
      update("hello").expect(200, "<p>Empty World</p>");
      assertThat(update("uuid").body()).hasSize(32);
      assertThat(server.get("/w").body()).contains("\"doc_count\":1,");
    }

    @Test
    void ids_have_slashes_and_forms_are_parsed() {
      assertThat(update("hello/with/slash").header("x-couch-id")).isEqualTo("with%2Fslash");
      server
          .request(
              "PUT",
              UPDATE + "form/with%2Fslash",
              "Content-Type",
              "application/x-www-form-urlencoded")
          .body("formfoo=bar+b%26&formbar=foo".getBytes(java.nio.charset.StandardCharsets.UTF_8))
          .send()
          .expect(201);
      assertThat(server.get("/w/with%2Fslash").body()).contains("\"formfoo\":\"bar b&\"");
    }

    @Test
    void a_stale_revision_is_a_conflict_and_a_deletion_is_one() {
      server.write("/w/a", "{}");
      Answer conflict = update("stale/a").expect(409);
      assertThat(conflict.member("error")).isEqualTo("conflict");

      Answer gone = update("delete/a");
      gone.expect("{\"gone\":true}\n");
      assertThat(server.get("/w/a").member("reason")).isEqualTo("deleted");
      assertThat(update("hello/a").body()).isEqualTo("<p>New World</p>");
    }

    @Test
    void the_response_has_a_code_headers_and_bytes() {
      server.write("/w/a", "{}");
      Answer binary = update("binary/a").expect(201, "hello world!");
      assertThat(binary.header("content-type")).isEqualTo("application/octet-stream");

      Answer redirect = update("redirect").expect(302, "{\"ok\":true}\n");
      assertThat(redirect.header("location")).isEqualTo("/w");
      assertThat(redirect.header("x-own")).isEqualTo("a b");
      assertThat(redirect.header("x-couch-update-newrev")).startsWith("1-");
    }

    @Test
    void harmful_headers_are_left_out() {
      Answer answer = update("harmful").expect(200, "x");
      assertThat(answer.headers())
          .doesNotContainKeys(
              "set-cookie",
              "connection",
              "transfer-encoding",
              "access-control-allow-origin",
              "x-couch-id",
              "content-encoding",
              "content-range",
              "bad name");
      assertThat(answer.header("vary")).contains("X-Good");
      assertThat(answer.header("content-length")).isEqualTo("1");
      assertThat(answer.header("content-security-policy")).isEqualTo("sandbox");
      assertThat(answer.header("x-good")).isEqualTo("1");
    }

    @Test
    void headers_have_a_limit() {
      assertThat(update("longHeaders?n=4096").header("x-long")).hasSize(4_090);
      Answer more = update("longHeaders?n=4097").expect(500);
      assertThat(more.member("error")).isEqualTo("external_response_error");
    }

    @ParameterizedTest
    @CsvSource({
      "noId, 400, illegal_docid",
      "missing, 404, not_found",
      "member, 500, external_response_error",
      "code, 500, external_response_error",
      "number, 500, external_response_error",
      "base64, 500, external_response_error",
      "nothing, 500, render_error",
      "throws, 500, ReferenceError",
      "forbids, 403, forbidden",
      "broken, 500, compilation_error",
      "large, 500, function_failed",
    })
    void a_failure_writes_nothing_and_says_why(String function, int status, String error) {
      Answer answer = update(function).expect(status);
      assertThat(answer.member("error")).isEqualTo(error);
      update("hello").expect(200);
      assertThat(server.get("/w").body()).contains("\"doc_count\":1,");
    }

    @ParameterizedTest
    @ValueSource(strings = {"endless", "bomb"})
    void a_function_that_takes_too_much_fails(String function) {
      TestSettings impatient = new TestSettings().with(ScriptKeys.TIMEOUT_SECONDS, 1);
      try (LectusServer own = LectusServer.start(stores.fresh(), impatient)) {
        create(own);
        Answer answer = own.request("POST", UPDATE + function).send().expect(500);
        assertThat(answer.member("error")).isEqualTo("function_failed");
        Await.until(
            "others run", () -> own.request("POST", UPDATE + "hello").send().status() == 200);
        assertThat(own.get("/w").body()).contains("\"doc_count\":1,");
      }
    }

    @Test
    void what_is_no_update_is_refused() {
      assertThat(server.post("/w/_design/d/_update/", "").member("reason"))
          .isEqualTo("Invalid path.");
      Answer read = server.get(UPDATE + "hello/a").expect(405);
      assertThat(read.member("error")).isEqualTo("method_not_allowed");
      server.post("/w/_design/none/_update/hello", "").expect(404);
      server.post("/none/_design/d/_update/hello", "").expect(404);
    }

    /** The function writes as its caller, and for those who may read the database. */
    @Test
    void rights_are_the_callers() {
      try (LectusServer guarded = LectusServer.start(stores.fresh())) {
        create(guarded);
        assertRightsAreTheCallers(guarded);
      }
    }

    private static void assertRightsAreTheCallers(LectusServer server) {
      server.put("/_users");
      server.put("/w/_security", "{\"members\":{\"names\":[\"ann\"]},\"admins\":{\"roles\":[]}}");
      server.put(
          "/_users/org.couchdb.user:ann",
          "{\"name\":\"ann\",\"password\":\"ann\",\"roles\":[],\"type\":\"user\"}");
      server.put(
          "/_users/org.couchdb.user:bob",
          "{\"name\":\"bob\",\"password\":\"bob\",\"roles\":[],\"type\":\"user\"}");
      server.put("/_node/_local/_config/admins/root", "\"root\"");

      as(server, "ann", "hello/x").expect(201);
      assertThat(
              server
                  .request("GET", "/w/x", "Authorization", Member.basic("ann", "ann"))
                  .send()
                  .member("by"))
          .isEqualTo("ann");
      as(server, "ann", "design").expect(403);
      as(server, "bob", "hello/y").expect(403);
      server.request("POST", UPDATE + "hello/y").send().expect(401);
      as(server, "root", "design").expect(201);
    }

    private static Answer as(LectusServer server, String user, String function) {
      return server
          .request("PUT", UPDATE + function, "Authorization", Member.basic(user, user))
          .send();
    }
  }
}
