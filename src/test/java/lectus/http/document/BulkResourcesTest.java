package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code _bulk_docs}, {@code _bulk_get}, {@code _revs_diff}, {@code _missing_revs}. */
final class BulkResourcesTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  private Answer bulk(String json) {
    return server.post("/w/_bulk_docs", json);
  }

  @Test
  void outcomes_come_in_the_order_of_the_documents() {
    server.write("/w/a", "{}");

    Answer answer =
        bulk(json("{'docs':[{'_id':'f','v':1},{'_id':'a'},{'_id':'_design/d'}]}")).expect(201);
    assertThat(answer.isChunked()).isFalse();
    assertThat(answer.body())
        .matches(
            json(
                "\\[\\{'ok':true,'id':'f','rev':'1-[0-9a-f]{32}'},\\{'id':'a','error':'conflict','reason':'Document"
                    + " update"
                    + " conflict.'},\\{'ok':true,'id':'_design/d','rev':'1-[0-9a-f]{32}'}]\n"));
    assertThat(server.get("/w/f").body()).contains("\"v\":1");
  }

  @Test
  void nothing_in_nothing_out() {
    bulk("{\"docs\":[]}").expect(201, "[]\n");
  }

  @Test
  void more_documents_than_a_batch_takes_keep_their_order() {
    int count = 1_000;
    StringBuilder docs = new StringBuilder("{\"docs\":[");
    StringBuilder outcomes = new StringBuilder("\\[");
    for (int i = 0; i < count; i++) {
      docs.append(i == 0 ? "" : ",").append("{\"_id\":\"d").append(i).append("\"}");
      outcomes.append(i == 0 ? "" : ",");
      outcomes.append("\\{\"ok\":true,\"id\":\"d").append(i).append("\",\"rev\":\"1-\\w+\"}");
    }

    assertThat(bulk(docs + "]}").body()).matches(outcomes + "]\n");
    assertThat(server.get("/w").body()).contains("\"doc_count\":" + count);
  }

  /** The queue's memory takes a part of one bulk's rows only. */
  @Test
  void bulks_beside_each_other_are_stored_whose_rows_in_indexes_are_large() {
    try (LectusServer small =
        LectusServer.start(stores.fresh(), new TestSettings().queue(10_000, 1 << 20))) {
      small.put("/w");
      List<String> fields = IntStream.range(0, 6).mapToObj(i -> "\"f" + i + "\"").toList();
      for (int i = 0; i < 16; i++) {
        String index = "{\"index\":{\"fields\":" + fields + "},\"name\":\"i" + i + "\"}";
        small.post("/w/_index", index).expect(200);
      }
      String text = "\"" + "x".repeat(200) + "\"";
      String members = fields.stream().map(it -> it + ":" + text).collect(Collectors.joining(","));
      List<CompletableFuture<Answer>> clients =
          IntStream.range(0, 4)
              .mapToObj(
                  client ->
                      CompletableFuture.supplyAsync(
                          () -> small.post("/w/_bulk_docs", wide(client, members)),
                          command -> new Thread(command).start()))
              .toList();

      for (CompletableFuture<Answer> client : clients) {
        client.join().expect(201);
        assertThat(client.join().body()).doesNotContain("error");
      }
      assertThat(small.get("/w").body()).contains("\"doc_count\":616");
    }
  }

  private static String wide(int client, String members) {
    return IntStream.range(0, 150)
        .mapToObj(i -> "{\"_id\":\"" + client + "-" + i + "\"," + members + "}")
        .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
  }

  @Test
  void a_second_edit_of_an_id_sees_the_first() {
    Answer answer = bulk("{\"docs\":[{\"_id\":\"a\",\"v\":1},{\"_id\":\"a\",\"v\":2}]}");

    assertThat(answer.body())
        .matches("\\[\\{\"ok\":true,\"id\":\"a\",.*},\\{\"id\":\"a\",\"error\":\"conflict\".*\n");
    assertThat(server.get("/w/a").body()).contains("\"v\":1");
  }

  @Test
  void of_replicated_edits_only_errors_are_listed() {
    String docs =
        json(
            "{'new_edits':false,'docs':[{'_id':'a','_rev':'2-b','_revisions':{'start':2,'ids':['b','a']}},{'_id':'a','_rev':'2-c'}]}");

    assertThat(bulk(docs).body()).isEqualTo("[]\n");
    assertThat(bulk(docs).status()).as("idempotent").isEqualTo(201);
    assertThat(server.get("/w/a?conflicts=true&revs=true").body())
        .contains(json("'_rev':'2-c'"))
        .contains(json("'_conflicts':['2-b']"));
    String last = "{\"docs\":[{\"_id\":\"z\",\"_rev\":\"1-z\"}],\"new_edits\":false}";
    assertThat(bulk(last).body()).isEqualTo("[]\n");
    assertThat(server.get("/w/z").body()).contains("\"_rev\":\"1-z\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"b\",}]}|bad_request",
        "{\"docs\":[{\"_id\":\"_b\"}]}|illegal_docid",
        "{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"_b\"}]}|illegal_docid",
        "{\"docs\":[{\"_id\":\"a\"},{\"_id\":5}]}|illegal_docid",
        "{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"b\",\"_foo\":1},{\"_id\":\"_b\"}]}|doc_validation",
        "{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"b\",\"_rev\":\"x\"}]}|bad_request",
        "{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"_local/l\",\"_rev\":\"1-a\"}]}|bad_request",
        "{\"docs\":[{\"_id\":\"a\"},{\"_attachments\":{\"x\":{\"data\":\"?\"}}}]}|bad_request",
        "{\"docs\":[{\"_id\":\"a\"},{\"v\":\"\\ud800\"}]}|bad_request",
        "{\"atomic\":true,\"docs\":[{\"_id\":\"a\"},{\"_id\":\"_b\"}]}|illegal_docid",
        "{\"docs\":[{\"_id\":\"a\"},7]}|bad_request",
        "{\"docs\":[{\"_id\":\"a\"},null]}|bad_request",
        "{\"docs\":[{\"_id\":\"a\"},[]]}|bad_request",
        "{\"docs\":[{\"_id\":\"_b\"},{\"_id\":\"a\",\"b\":x}]}|bad_request",
        "{\"docs\":[{\"_id\":\"a\"}]|bad_request",
        "{\"docs\":{}}|bad_request",
        "{}|bad_request",
        "{\"docs\":null}|bad_request",
        "[]|bad_request",
        "null|bad_request",
        "{\"docs\":[{\"_id\":\"a\"}],\"new_edits\":3}|bad_request",
        "{\"docs\":[{\"_id\":\"a\"}],\"new_edits\":\"false\"}|bad_request",
        "{\"docs\":[{\"_id\":\"a\"}],\"new_edits\":null}|bad_request",
        "{\"docs\":[{\"_id\":\"a\",\"_rev\":\"1-a\"},{\"_id\":\"b\"}],\"new_edits\":false}|bad_request"
      })
  void what_is_wrong_with_the_request_stores_nothing(String json, String error) {
    Answer answer = bulk(json).expect(400);
    assertThat(answer.member("error")).isEqualTo(error);
    assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
  }

  @Test
  void a_document_that_is_too_large_fails_alone() {
    String large = "{\"v\":[" + "1e9,".repeat(700_000) + "7],\"_id\":\"b\"}";
    Answer answer = bulk("{\"docs\":[{\"_id\":\"a\"}," + large + ",{\"_id\":\"c\"}]}").expect(201);
    assertThat(answer.body())
        .matches(
            json(
                "\\[\\{'ok':true,'id':'a','rev':'1-\\w+'},\\{'id':'b','error':'document_too_large','reason':'[^']+'},\\{'ok':true,'id':'c','rev':'1-\\w+'}]\n"));
    Answer alone = bulk("{\"docs\":[" + large + "]}").expect(413);
    assertThat(alone.member("error")).isEqualTo("document_too_large");
  }

  @Test
  void refused_documents_of_a_replicator_are_listed_with_their_revisions() {
    bulk(json(
            "{'new_edits':false,'docs':[{'_id':'a','_rev':'2-b'},{'_attachments':{'x':{'stub':true}},'_id':'b','_rev':'3-c'},{'_id':'c','_rev':'nonsense'},{'_id':'d','_rev':'1-d'}]}"))
        .expect(
            201,
            json(
                "[{'id':'b','rev':'3-c','error':'forbidden','reason':'missing_stub: Invalid"
                    + " attachment stub in b for"
                    + " x'},{'id':'c','error':'forbidden','reason':'bad_request: Invalid rev"
                    + " format'}]\n"));
    assertThat(server.get("/w").body()).contains("\"doc_count\":2,");
    Answer alone = bulk(json("{'new_edits':false,'docs':[{'_id':'b','_rev':'3-c','_foo':1}]}"));
    assertThat(alone.status()).as("or the replication would end").isEqualTo(201);
    assertThat(alone.body())
        .startsWith(json("[{'id':'b','rev':'3-c','error':'forbidden','reason':'doc_validation: "));
  }

  @Test
  void a_replicator_may_be_told_which_revisions_were_there() {
    String body =
        json(
            "{'new_edits':false,'docs':[%s{'_id':'b','_rev':'1-b'},{'_id':'c','_rev':'1-c','_x':1}]}");
    String refused =
        json(
            "{'id':'c','rev':'1-c','error':'forbidden','reason':'doc_validation: Bad special"
                + " document member: _x'}");
    assertThat(bulk(body.formatted("")).body()).isEqualTo('[' + refused + "]\n");
    String more =
        body.formatted(json("{'_id':'a','_rev':'2-a','_revisions':{'start':2,'ids':['a','0']}},"));

    server
        .post("/w/_bulk_docs?known_revisions=true", more)
        .expect(201, json("[{'ok':true,'id':'b','rev':'1-b'},%s]\n").formatted(refused));
    assertThat(server.post("/w/_bulk_docs?known_revisions=true", more).body())
        .startsWith("[{\"ok\":true,\"id\":\"a\",\"rev\":\"2-a\"},{\"ok\":true,\"id\":\"b\",");
    assertThat(bulk(more).body()).as("who does not ask").isEqualTo('[' + refused + "]\n");
    assertThat(server.get("/").body()).contains("\"known_revisions\"");
  }

  @Test
  void refused_documents_may_be_many() {
    int count = 100_000;
    String refused = "{\"_x\":1,\"_rev\":\"1-a\",\"_id\":\"r\"},".repeat(count);

    Answer answer =
        bulk(json("{'new_edits':false,'docs':[%s{'_id':'a','_rev':'1-a'}]}").formatted(refused))
            .expect(201);
    String row =
        json(
            "{'id':'r','rev':'1-a','error':'forbidden','reason':'doc_validation: Bad special"
                + " document member: _x'}");
    answer.expect('[' + (row + ',').repeat(count - 1) + row + "]\n");
    assertThat(server.get("/w").body()).contains("\"doc_count\":1,");
  }

  @Test
  void all_or_nothing_is_refused_as_in_couchdb() {
    String docs = "[{\"_id\":\"a\"},{\"_id\":\"b\",\"_rev\":\"1-abc\"},{}]";
    Answer answer = bulk("{\"all_or_nothing\":true,\"docs\":" + docs + "}").expect(417);
    String error = "\"error\":\"not_implemented\",\"reason\":\"all_or_nothing is not supported\"}";
    assertThat(answer.body())
        .matches(
            json("\\[\\{'id':'a','rev':'0-',%s,\\{'id':'b','rev':'1-abc',%s,\\{'id':'\\w{32}','rev':'0-',%s]\n")
                .formatted(error, error, error));
    assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
    assertThat(bulk("{\"all_or_nothing\":true,\"docs\":[]}").body()).isEqualTo("[]\n");
    bulk("{\"all_or_nothing\":true,\"docs\":[{\"_id\":\"_x\"}]}").expect(400);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"docs\":[{\"_id\":\"b\"}],\"docs\":[{\"_id\":\"a\"}]}",
        "{\"docs\":[{\"_id\":\"_x\"}],\"docs\":[{\"_id\":\"a\"}]}",
        "{\"docs\":[{\"_id\":\"a\"}],\"all_or_nothing\":\"x\"}",
        "{\"docs\":[{\"_id\":\"a\",\"_rev\":\"1-a\"}],\"all_or_nothing\":true,\"new_edits\":false}",
        "{\"docs\":[{\"_id\":\"a\"}],\"w\":\"x\",\"r\":3,\"n\":[]}",
      })
  void what_says_nothing_about_the_documents_is_passed_over(String json) {
    server
        .request("POST", "/w/_bulk_docs?w=1&r=1&n=1", "X-Couch-Full-Commit", "false")
        .json(json)
        .send()
        .expect(201);
    server.get("/w/a").expect(200);
    assertThat(server.get("/w").body()).contains("\"doc_count\":1,");
  }

  @Test
  void local_documents_are_written_beside_others() {
    Answer written =
        bulk(json(
                "{'docs':[{'_id':'_local/x','v':1},{'_id':'a'},{'_rev':'0-4','_id':'_local/y'},{'_id':'_local/none','_deleted':true}]}"))
            .expect(201);
    assertThat(written.body())
        .matches(
            json(
                "\\[\\{'ok':true,'id':'_local/x','rev':'0-1'},\\{'ok':true,'id':'a','rev':'1-[0-9a-f]{32}'},\\{'ok':true,'id':'_local/y','rev':'0-5'},\\{'ok':true,'id':'_local/none','rev':'0-0'}]\n"));
    server.get("/w/_local/x").expect("{\"_id\":\"_local/x\",\"_rev\":\"0-1\",\"v\":1}\n");
    assertThat(server.get("/w").body()).contains("\"doc_count\":1,");
    assertThat(server.get("/w/_changes").body()).doesNotContain("_local");
  }

  @Test
  void replicated_local_documents_count_on_and_are_not_listed() {
    assertThat(
            bulk(json(
                    "{'new_edits':false,'docs':[{'_id':'_local/x','_rev':'0-1'},{'_id':'_local/y','_revisions':{'start':0,'ids':['4']}},{'_id':'a','_rev':'1-a'}]}"))
                .body())
        .isEqualTo("[]\n");
    assertThat(server.get("/w/_local/y").member("_rev")).isEqualTo("0-5");
    assertThat(server.get("/w/_local/x").member("_rev")).isEqualTo("0-2");
    assertThat(server.get("/w/a").member("_rev")).isEqualTo("1-a");

    Answer unversioned = bulk(json("{'new_edits':false,'docs':[{'_id':'_local/x'}]}")).expect(400);
    assertThat(unversioned.member("reason")).contains("the document needs `_rev`");
  }

  @Test
  void local_documents_are_part_of_an_atomic_request() {
    server.write("/w/a", "{}");
    String conflicting = "{\"atomic\":true,\"docs\":[{\"_id\":\"_local/x\"},{\"_id\":\"a\"}]}";

    Answer withheld = bulk(conflicting).expect(409);
    assertThat(withheld.body()).startsWith("[{\"id\":\"_local/x\",\"error\":\"aborted\"");
    server.get("/w/_local/x").expect(404);

    bulk(conflicting.replace("\"a\"", "\"b\"")).expect(201);
    assertThat(server.get("/w/_local/x").member("_rev")).isEqualTo("0-1");
    bulk("{\"atomic\":true,\"docs\":[{\"_id\":\"_local/x\"},{\"_id\":\"_local/x\"}]}").expect(400);
  }

  @Test
  void an_atomic_request_stores_all() {
    Answer answer = bulk(json("{'atomic':true,'docs':[{'_id':'a'},{'_id':'b'}]}")).expect(201);
    assertThat(answer.body())
        .matches("\\[\\{\"ok\":true,\"id\":\"a\",.*},\\{\"ok\":true,\"id\":\"b\",.*}]\n");
  }

  @Test
  void an_atomic_request_with_a_conflict_stores_nothing() {
    server.write("/w/b", "{}");

    bulk(json("{'docs':[{'_id':'a'},{'_id':'b'}],'atomic':true}"))
        .expect(
            409,
            json(
                "[{'id':'a','error':'aborted','reason':'Another document of this atomic request"
                    + " failed, so nothing was"
                    + " stored.'},{'id':'b','error':'conflict','reason':'Document update"
                    + " conflict.'}]\n"));
    server.get("/w/a").expect(404);
  }

  @Test
  void an_atomic_request_takes_each_document_once() {
    bulk("{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"a\"}],\"atomic\":true}").expect(400);
    server.get("/w/a").expect(404);
  }

  @Test
  void an_atomic_request_beyond_one_transaction_is_413() {
    StringBuilder docs = new StringBuilder("{\"atomic\":true,\"docs\":[");
    for (int i = 0; i < 24; i++) {
      docs.append(i == 0 ? "" : ",").append("{\"_id\":\"d").append(i).append("\"");
      for (int member = 0; member < 5; member++) {
        docs.append(",\"m").append(member).append("\":\"").append("x".repeat(90_000)).append('"');
      }
      docs.append('}');
    }
    String tooMuch = docs + "]}";

    TestSettings settings = new TestSettings().maxRequestBytes(64 << 20);
    try (LectusServer large = LectusServer.start(stores.fresh(), settings)) {
      large.put("/w");
      large.post("/w/_bulk_docs", tooMuch).expect(413);
      assertThat(large.get("/w").body()).contains("\"doc_count\":0,");
    }
  }

  @Test
  void bulk_get_answers_every_request_in_order() {
    String a = server.write("/w/a", "{\"v\":1}");

    Answer answer =
        server
            .post(
                "/w/_bulk_get",
                json("{'docs':[{'id':'a'},{'id':'a','rev':'9-abc'},{'id':'none'}]}"))
            .expect(200);
    assertThat(answer.body().trim())
        .isEqualTo(
            json("{'results':[{'id':'a','docs':[{'ok':{'_id':'a','_rev':'%s','v':1}}]},{'id':'a','docs':[{'error':{'rev':'9-abc','reason':'missing','id':'a','error':'not_found'}}]},{'id':'none','docs':[{'error':{'rev':'undefined','reason':'missing','id':'none','error':'not_found'}}]}]}")
                .formatted(a));
    assertThat(
            server
                .post(
                    "/w/_bulk_get?revs=true&latest=true",
                    json("{'docs':[{'id':'a','rev':'%s'}]}").formatted(a))
                .body())
        .contains(json("'_revisions':{'start':1,"));
    server.post("/w/_bulk_get", "{}").expect(400);
  }

  @Test
  void revs_diff_names_what_is_not_here() {
    server.write("/w/a?new_edits=false", "{\"_rev\":\"3-x\"}");

    server
        .post("/w/_revs_diff", json("{'none':['1-x'],'a':['3-x','4-new']}"))
        .expect(
            json(
                "{'none':{'missing':['1-x']},'a':{'missing':['4-new'],'possible_ancestors':['3-x']}}\n"));
    server.post("/w/_revs_diff", "{\"a\":[\"3-x\"]}").expect("{}\n");
    server
        .post("/w/_missing_revs", json("{'a':['3-x','4-new']}"))
        .expect(json("{'missing_revs':{'a':['4-new']}}\n"));
    server.post("/w/_revs_diff", "{").expect(400);
  }

  /** Bulk requests whose documents take a multiple of their JSON in memory; 56 MB may be held. */
  @Nested
  class InLittleMemory {
    @RegisterExtension static final TestStores stores = new TestStores();

    @AutoClose
    private final LectusServer server =
        LectusServer.start(stores.fresh(), new TestSettings().bodyMemoryBytes(8 << 20));

    @BeforeEach
    void create() {
      server.put("/w");
    }

    private Answer write(String document, int count, String members) {
      return server.post(
          "/w/_bulk_docs",
          "{\"docs\":[" + (document + ',').repeat(count - 1) + document + ']' + members + '}');
    }

    private void assertTooLarge(Answer answer) {
      answer.expect(413);
      assertThat(answer.member("error")).isEqualTo("too_large");
      assertThat(answer.member("reason"))
          .isEqualTo(
              "The documents take more memory than a request may have, 58720256 bytes; send fewer"
                  + " at a time.");
    }

    /** Atomic requests are held as a whole; others are written in portions. */
    @Test
    void many_tiny_documents_of_an_atomic_request_have_a_limit() {
      assertTooLarge(write("{}", 125_000, ",\"atomic\":true"));
      assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
      write("{}", 70_000, "").expect(201);
      assertThat(server.get("/w").body()).contains("\"doc_count\":70000,");
      // They are parsed like others, but need not be written.
      String refused = "{\"_x\":1,\"_rev\":\"1-a\"},".repeat(60_000);
      server
          .post(
              "/w/_bulk_docs", "{\"docs\":[" + refused + "{\"_rev\":\"1-a\"}],\"new_edits\":false}")
          .expect(201);
      assertThat(server.get("/w").body()).contains("\"doc_count\":70001,");
    }
  }
}
