package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.config.HttpKeys;
import lectus.config.ScriptKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Writes that design documents judge, through HTTP and with functions in child processes. */
final class ValidatedWritesTest {
  private static final String TYPED =
      "function (newDoc) { if (!newDoc.type && !newDoc._deleted) {"
          + " throw({forbidden: 'Documents must have a type field'}); } }";

  private static final String REFUSED =
      "{\"error\":\"forbidden\",\"reason\":\"Documents must have a type field\"}\n";

  private static final String DECLARED =
      json("{'language':'query','validate_doc_update':{'newDoc':{'type':{'$type':'string'}}}}");

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  private static String design(String function) {
    return "{\"validate_doc_update\":\"" + function.replace("\"", "\\\"") + "\"}";
  }

  private static String validate(String function) {
    return server.write("/w/_design/v", design(function));
  }

  private static void assertIs(Answer answer, int status, String error) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.member("error")).isEqualTo(error);
  }

  private static String reason(Answer refused) {
    JsonObject body = (JsonObject) JsonValue.parse(refused.body().getBytes(StandardCharsets.UTF_8));
    return ((JsonString) body.get("reason").orElseThrow()).value();
  }

  /** As in CouchDB's own test of validation. */
  @Test
  void a_function_accepts_and_refuses() {
    validate(TYPED);

    server.put("/w/a", "{\"type\":\"movie\"}").expect(201);
    server.put("/w/b", "{\"not\":\"valid\"}").expect(403, REFUSED);
    server.get("/w/b").expect(404);
  }

  @Test
  void a_function_sees_what_changes() {
    validate(
        "function (newDoc, oldDoc) { if (oldDoc && newDoc.type !== oldDoc.type) {"
            + " throw {forbidden: 'Documents cannot change their type field'}; } }");
    String rev = server.write("/w/a", "{\"type\":\"movie\"}");

    server.put("/w/a?rev=" + rev, "{\"type\":\"movie\",\"title\":\"x\"}").expect(201);
    rev = server.get("/w/a").member("_rev");
    server.put("/w/a?rev=" + rev, "{\"type\":\"director\"}").expect(403);
    server.delete("/w/a?rev=" + rev).expect(403);
  }

  @Test
  void every_way_to_write_is_judged() {
    String rev = server.write("/w/a", "{}");
    server.write("/w/_design/v", design(TYPED.replace("&& !newDoc._deleted", "")));
    String related =
        json(
            "--b\r\n"
                + "Content-Type: application/json\r\n\r\n"
                + "{'_rev':'1-a','_attachments':{'f':{'follows':true,'content_type':'a/b','length':1}}}\r\n"
                + "--b\r\n\r\n"
                + "x\r\n"
                + "--b--");

    for (Request request :
        List.of(
            server.request("PUT", "/w/b").json("{}"),
            server.request("POST", "/w").json("{\"_id\":\"b\"}"),
            server.request("PUT", "/w/a?rev=" + rev).json("{\"v\":1}"),
            server.request("DELETE", "/w/a?rev=" + rev),
            server.request("COPY", "/w/a", "Destination", "b"),
            server.request("PUT", "/w/b/f").body(new byte[1]),
            server.request("PUT", "/w/a/f?rev=" + rev).body(new byte[1]),
            server.request("PUT", "/w/b?new_edits=false").json("{\"_rev\":\"1-a\"}"),
            server
                .request("PUT", "/w/b?new_edits=false")
                .json("{\"_rev\":\"1-a\",\"_deleted\":true}"),
            server
                .request(
                    "PUT", "/w/b?new_edits=false", "Content-Type", "multipart/related; boundary=b")
                .body(related.getBytes(StandardCharsets.UTF_8)),
            server.request("COPY", "/w/_design/v?new_edits=false", "Destination", "b"))) {
      Answer answer = request.send();
      assertThat(answer.status()).as(answer.body()).isEqualTo(403);
      answer.expect(REFUSED);
    }
    assertThat(server.get("/w/a").member("_rev")).isEqualTo(rev);
    server.get("/w/b").expect(404);
    server.put("/w/_local/b", "{}").expect(201);
    server.put("/w/_design/other", "{}").expect(201);
  }

  @Test
  void rows_are_refused_each_by_itself() {
    validate(TYPED);

    Answer bulk =
        server
            .post(
                "/w/_bulk_docs",
                json("{'docs':[{'_id':'a'},{'_id':'b','type':'x'},{'_id':'_local/c'}]}"))
            .expect(201);
    assertThat(bulk.body())
        .startsWith(
            json(
                "[{'id':'a','error':'forbidden','reason':'Documents must have a type"
                    + " field'},{'ok':true,'id':'b',"))
        .endsWith(json(",{'ok':true,'id':'_local/c','rev':'0-1'}]\n"));
    server
        .post(
            "/w/_bulk_docs",
            json(
                "{'new_edits':false,'docs':[{'_id':'c','_rev':'1-a'},{'_id':'d','_rev':'1-a','type':'x'}]}"))
        .expect(
            json(
                "[{'id':'c','rev':'1-a','error':'forbidden','reason':'Documents must have a type"
                    + " field'}]\n"));
    server.get("/w/d").expect(200);
  }

  @Test
  void an_atomic_request_is_stored_if_all_of_it_is_accepted() {
    validate(TYPED);

    Answer refused =
        server
            .post(
                "/w/_bulk_docs",
                json(
                    "{'atomic':true,'docs':[{'_id':'a','type':'x'},{'_id':'b'},{'_id':'_design/d'}]}"))
            .expect(403);
    assertThat(refused.body()).contains("aborted").contains("Documents must have a type field");
    server.get("/w/a").expect(404);
    server.get("/w/_design/d").expect(404);
    server
        .post(
            "/w/_bulk_docs",
            json("{'atomic':true,'docs':[{'_id':'a','type':'x'},{'_id':'_design/d'}]}"))
        .expect(201);
    server.get("/w/a").expect(200);
  }

  @Test
  void a_function_gets_what_it_gets_in_couchdb() {
    Store guarded = stores.fresh();
    Member.makeAdmin(guarded, "root");
    try (LectusServer other = LectusServer.start(guarded)) {
      Member root = new Member(other, "root");
      Member ann = new Member(other, "ann");
      root.request("PUT", "/w").send();
      root.request("PUT", "/_users").send();
      root.user("ann", "writer");
      root.make("/w/_security", "{\"members\":{\"roles\":[\"writer\"]},\"more\":[7]}");
      String rev = ann.write("/w/a", "{\"v\":1,\"_attachments\":{\"f\":{\"data\":\"eA==\"}}}");
      root.write(
          "/w/_design/v",
          design(
              "function (newDoc, oldDoc, userCtx, secObj) {"
                  + " throw {forbidden: JSON.stringify([newDoc, oldDoc, userCtx, secObj])}; }"));

      String hash = rev.substring(2);
      String stub =
          json(
              "{'content_type':'application/octet-stream','revpos':1,'digest':'md5-ndTkYSaMgDT1yFZOFVxnpg==','length':1,'stub':true}");
      String users =
          json(
              ",{'db':'w','name':'ann','roles':['writer']},{'members':{'roles':['writer']},'more':[7]}]");
      String old =
          json(
              "{'_id':'a','_rev':'%s','v':1,'_revisions':{'start':1,'ids':['%s']},'_attachments':{'f':%s}}");
      String known = String.format(old, rev, hash, stub);
      Answer edited =
          ann.put(
              "/w/a",
              json("{'_rev':'%s','v':2,'_attachments':{'f':{'stub':true}}}").formatted(rev));
      assertThat(reason(edited)).startsWith("[{\"_id\":\"a\",\"_rev\":\"" + rev + "\",\"v\":2,");
      assertThat(reason(edited)).endsWith("," + known + users);
      assertThat(reason(ann.request("DELETE", "/w/a?rev=" + rev).send()))
          .isEqualTo(
              json("[{'_id':'a','_rev':'%s','_deleted':true,'_revisions':{'start':1,'ids':['%s']}},%s%s")
                  .formatted(rev, hash, known, users));
      assertThat(reason(ann.put("/w/b", "{}")))
          .isEqualTo("[{\"_id\":\"b\",\"_revisions\":{\"start\":0,\"ids\":[]}},null" + users);
      assertThat(reason(ann.put("/w/b?new_edits=false", json("{'_rev':'3-c'}"))))
          .isEqualTo(
              json("[{'_id':'b','_rev':'3-c','_revisions':{'start':3,'ids':['c']}},null%s")
                  .formatted(users));
    }
  }

  @Test
  void whatever_else_a_function_throws_refuses_the_document() {
    String rev = validate("function () { throw({unauthorized: 'Who are you?'}); }");
    server.put("/w/a", "{}").expect(401);
    server.put("/w/a", "{}").expect("{\"error\":\"unauthorized\",\"reason\":\"Who are you?\"}\n");
    rev = server.write("/w/_design/v?rev=" + rev, design("function (doc) { doc.x.y; }"));
    assertIs(server.put("/w/a", "{}"), 400, "TypeError");
    assertThat(reason(server.put("/w/a", "{}"))).startsWith("w/_design/v: Cannot read ");
    rev = server.write("/w/_design/v?rev=" + rev, design("function () { throw 'no'; }"));
    server.put("/w/a", "{}").expect(400);
    rev = server.write("/w/_design/v?rev=" + rev, "{\"validate_doc_update\":{\"no\":\"text\"}}");
    assertIs(server.put("/w/a", "{}"), 400, "compilation_error");
    server.put(
        "/w/_design/b?new_edits=false", json("{'_rev':'1-a','validate_doc_update':'function ('}"));
    server.delete("/w/_design/v?rev=" + rev);
    assertIs(server.put("/w/a", "{}"), 400, "compilation_error");
    server.get("/w/a").expect(404);
  }

  @Test
  void a_changed_function_counts_for_every_write_after_its_answer() {
    String rev = server.write("/w/_design/v", DECLARED);
    server.put("/w/a", "{}").expect(403);
    try (LectusServer other = LectusServer.start(server.store())) {
      other.put("/w/a", "{}").expect(403);
      rev = server.write("/w/_design/v?rev=" + rev, design(TYPED));
      other.put("/w/a", "{}").expect(REFUSED);
      rev = server.write("/w/_design/v?rev=" + rev, design("function () {}"));
      other.put("/w/a", "{}").expect(201);
      rev = server.write("/w/_design/v?rev=" + rev, design(TYPED));
      other.put("/w/b", "{}").expect(403);
      server.delete("/w/_design/v?rev=" + rev);
      other.put("/w/b", "{}").expect(201);
    }
  }

  /** As in CouchDB's own test of declarations. */
  @Test
  void a_declaration_accepts_and_refuses() {
    server.write("/w/_design/q", DECLARED);
    server.write(
        "/w/_design/r",
        json("{'language':'query','validate_doc_update':{'newDoc':{'year':{'$lt':2026}}}}"));

    server.put("/w/a", "{\"type\":\"movie\",\"year\":1994}").expect(201);
    for (String json :
        List.of("{\"year\":1994}", "{\"type\":\"m\",\"year\":2094}", "{\"type\":4,\"year\":1}")) {
      Answer refused = server.put("/w/b", json);
      assertIs(refused, 403, "forbidden");
      assertThat(refused.member("reason")).isEqualTo("document is not valid");
    }
    server.get("/w/b").expect(404);
  }

  @Test
  void a_declaration_sees_what_a_function_sees() {
    String rev = server.write("/w/a", "{\"owner\":\"ann\"}");
    server.write(
        "/w/_design/q",
        json(
            "{'language':'query','validate_doc_update':{'$or':[{'oldDoc':null,'secObj.members':{'$exists':true}},{'oldDoc.owner':'ann','newDoc._deleted':true,'userCtx.name':null}]}}"));

    server.put("/w/a?rev=" + rev, "{\"owner\":\"ann\"}").expect(403);
    server.delete("/w/a?rev=" + rev).expect(200);
    server.put("/w/b", "{}").expect(201);
  }

  @Test
  void a_broken_declaration_is_refused_and_one_that_was_replicated_refuses() {
    for (String broken :
        List.of("\"function () {}\"", "{\"$no\":1}", "{\"a\":{\"$regex\":\"(\"}}")) {
      String json = "{\"language\":\"query\",\"validate_doc_update\":" + broken + "}";
      assertIs(server.put("/w/_design/q", json), 400, "compilation_error");
      server.write("/w/_design/q?new_edits=false", json.replace("{\"l", "{\"_rev\":\"1-a\",\"l"));
      assertIs(server.put("/w/a", "{}"), 400, "compilation_error");
      server.post("/w/_purge", "{\"_design/q\":[\"1-a\"]}").expect(201);
    }
    server.put("/w/a", "{}").expect(201);
  }

  @Test
  void a_function_that_never_ends_keeps_nobody_else_from_writing() {
    try (LectusServer own = looping(60)) {
      List<CompletableFuture<Answer>> loops = loops(own);
      own.put("/other");
      own.write("/other/_design/v", DECLARED);
      for (int i = 0; i < 5; i++) {
        own.put("/other/d" + i, "{\"type\":\"x\"}").expect(201);
        own.put("/w/_local/d" + i, "{}").expect(201);
        own.put("/w/_design/d" + i, "{}").expect(201);
      }
      assertThat(loops).noneMatch(CompletableFuture::isDone);
    }
  }

  @Test
  void a_function_that_never_ends_is_ended_and_its_document_is_not_written() {
    try (LectusServer own = looping(1)) {
      for (CompletableFuture<Answer> loop : loops(own)) {
        assertIs(loop.join(), 503, "service_unavailable");
      }
      own.get("/w/loop").expect(404);
      Await.until("others are written", () -> own.put("/w/a", "{}").status() == 201);
    }
  }

  private static LectusServer looping(int timeoutSeconds) {
    TestSettings settings =
        new TestSettings()
            .with(ScriptKeys.TIMEOUT_SECONDS, timeoutSeconds)
            .with(HttpKeys.STOP_SECONDS, 0)
            .requestSeconds(60);
    LectusServer own = LectusServer.start(stores.fresh(), settings);
    own.put("/w");
    own.write("/w/_design/v", design("function (doc) { while (doc._id === 'loop') {} }"));
    return own;
  }

  private static List<CompletableFuture<Answer>> loops(LectusServer own) {
    return Stream.generate(() -> CompletableFuture.supplyAsync(() -> own.put("/w/loop", "{}")))
        .limit(2)
        .toList();
  }

  @Test
  void a_server_that_ignores_validation_writes() {
    validate(TYPED);

    try (LectusServer other =
        LectusServer.start(server.store(), new TestSettings().ignoringValidation())) {
      other.put("/w/b", "{}").expect(201);
    }
    server.put("/w/c", "{}").expect(403);
  }
}
