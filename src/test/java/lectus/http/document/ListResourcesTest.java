package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code _all_docs} and similar lists, and {@code _local} documents. */
final class ListResourcesTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  private static String row(String id, String rev) {
    return "{\"id\":\"" + id + "\",\"key\":\"" + id + "\",\"value\":{\"rev\":\"" + rev + "\"}}";
  }

  @Test
  void a_list_has_one_row_a_line() {
    String b = server.write("/w/b", "{\"v\":2}");
    String a = server.write("/w/a", "{\"v\":1}");

    Answer all = server.get("/w/_all_docs").expect(200);
    assertThat(all.isChunked()).isTrue();
    assertThat(all.header("content-type")).isEqualTo("application/json");
    all.expect(
        "{\"total_rows\":2,\"offset\":0,\"rows\":[\r\n"
            + row("a", a)
            + ",\r\n"
            + row("b", b)
            + "\r\n]}\n");
    assertThat(server.get("/w/_all_docs?descending=true&limit=1").body())
        .contains(row("b", b))
        .doesNotContain(row("a", a));
    assertThat(server.get("/w/_all_docs?key=%22b%22&include_docs=true").body())
        .contains("\"doc\":{\"_id\":\"b\",\"_rev\":\"" + b + "\",\"v\":2}}");
    assertThat(server.head("/w/_all_docs").header("content-length")).isNull();
    server.head("/w/_all_docs").expect(200);
  }

  @Test
  void keys_come_in_their_order() {
    String a = server.write("/w/a", "{}");
    String gone = server.write("/w/e", "{}");
    String tombstone = server.delete("/w/e?rev=" + gone).member("rev");

    server
        .post("/w/_all_docs", "{\"keys\":[\"e\",\"none\",\"a\",5]}")
        .expect(
            "{\"total_rows\":1,\"offset\":null,\"rows\":[\r\n"
                + "{\"id\":\"e\",\"key\":\"e\",\"value\":{\"rev\":\""
                + tombstone
                + "\",\"deleted\":true}},\r\n"
                + "{\"key\":\"none\",\"error\":\"not_found\"},\r\n"
                + row("a", a)
                + ",\r\n"
                + "{\"key\":5,\"error\":\"not_found\"}\r\n]}\n");
  }

  @Test
  void an_empty_range_is_an_empty_line() {
    server.get("/w/_all_docs").expect("{\"total_rows\":0,\"offset\":0,\"rows\":[\r\n\r\n]}\n");
  }

  @Test
  void several_questions_are_answered_in_one() {
    String a = server.write("/w/a", "{}");

    Answer answers =
        server
            .post("/w/_all_docs/queries", "{\"queries\":[{\"key\":\"a\"},{\"limit\":0}]}")
            .expect(200);
    assertThat(answers.body()).startsWith("{\"results\":[").contains(row("a", a)).endsWith("]}\n");
    server.post("/w/_all_docs/queries", "{}").expect(400);
  }

  @Test
  void design_and_local_documents_have_lists_of_their_own() {
    String design = server.write("/w/_design/d", "{}");
    server.write("/w/a", "{}");
    server.put("/w/_local/ck", "{}");

    assertThat(server.get("/w/_design_docs").body())
        .contains(row("_design/d", design))
        .doesNotContain("\"a\"");
    server
        .get("/w/_local_docs")
        .expect(
            "{\"total_rows\":null,\"offset\":null,\"rows\":[\r\n"
                + row("_local/ck", "0-1")
                + "\r\n]}\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"include_docs=maybe", "limit=x", "skip=-1", "descending=1"})
  void an_unparsable_parameter_is_400(String query) {
    Answer answer = server.get("/w/_all_docs?" + query).expect(400);
    assertThat(answer.member("error")).isEqualTo("query_parse_error");
  }

  @Test
  void unknown_parameters_are_ignored_and_bad_json_is_400() {
    server.get("/w/_all_docs?foo=maybe").expect(200);
    server.get("/w/_all_docs?startkey=x").expect(400);
    server.post("/w/_all_docs", "{\"keys\":7}").expect(400);
  }

  /** So many rows that they come in several parts, each read in a transaction of its own. */
  @Test
  void a_long_list_is_whole() {
    StringBuilder docs = new StringBuilder("{\"docs\":[{}");
    docs.append(",{}".repeat(9_999)).append("]}");
    server.post("/w/_bulk_docs", docs.toString()).expect(201);

    Answer all = server.get("/w/_all_docs");
    assertThat(all.body().lines().filter(line -> line.startsWith("{\"id\":"))).hasSize(10_000);
    assertThat(all.body()).endsWith("}}\r\n]}\n");
    Answer changes = server.get("/w/_changes?include_docs=true");
    assertThat(changes.body().lines().filter(line -> line.startsWith("{\"seq\":"))).hasSize(10_000);
    assertThat(changes.body()).endsWith("\"pending\":0}\n");
  }

  @Test
  void local_documents_count_their_writes() {
    Answer one = server.put("/w/_local/ck", "{\"v\":1}");
    Answer two = server.put("/w/_local/ck", "{\"v\":2,\"_rev\":\"0-1\"}");

    one.expect(201, "{\"ok\":true,\"id\":\"_local/ck\",\"rev\":\"0-1\"}\n");
    assertThat(two.member("rev")).isEqualTo("0-2");
    Answer read =
        server.get("/w/_local/ck").expect("{\"_id\":\"_local/ck\",\"_rev\":\"0-2\",\"v\":2}\n");
    assertThat(read.header("etag")).matches("\"[0-9A-Z]{23,25}\"");
    server.request("GET", "/w/_local/ck", "If-None-Match", read.header("etag")).send().expect(304);
    server.get("/w/_local%2Fck").expect(read.body());
    server.head("/w/_local/ck").expect(200);
  }

  @Test
  void local_documents_are_deleted_without_a_trace() {
    server.put("/w/_local/ck", "{}");

    Answer deleted = server.delete("/w/_local/ck?rev=0-1").expect(200);
    assertThat(deleted.member("rev")).isEqualTo("0-0");
    server.get("/w/_local/ck").expect("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    server.delete("/w/_local/ck").expect(404);
  }

  @Test
  void local_documents_have_a_name_and_no_attachments() {
    server
        .get("/w/_local")
        .expect("{\"error\":\"bad_request\",\"reason\":\"Invalid _local document id.\"}\n");
    server
        .get("/w/_local/a/b")
        .expect(
            "{\"error\":\"bad_request\",\"reason\":\"_local documents do not accept"
                + " attachments.\"}\n");
    server.put("/w/_local/a", "[]").expect(400);
  }

  /** {@code /{db}/_local/{id}}: the answers of CouchDB 3.5.2, except its status 500. */
  @Nested
  class LocalDocuments {
    private static final String PLAIN = "{\"_id\":\"_local/x\",\"_rev\":\"0-2\",\"v\":2}\n";

    private static final String WITH_REVISIONS =
        json("{'_id':'_local/x','_rev':'0-2','v':2,'_revisions':{'start':0,'ids':['2']}}\n");

    @BeforeEach
    void create() {
      server.put("/w");
      server.put("/w/_local/x", "{\"_rev\":\"0-1\",\"v\":2}");
    }

    @Test
    void a_checkpoint_is_written_again_as_couchdbs_replicator_does() {
      String rev = "0-2";
      for (int round = 3; round <= 12; round++) {
        String number = rev.substring(2);
        Answer saved =
            server
                .put(
                    "/w/_local/x",
                    json("{'_id':'_local/x','_rev':'%s','_revisions':{'start':0,'ids':['%s']},'n':%d}")
                        .formatted(rev, number, round))
                .expect(201);
        rev = saved.member("rev");
        assertThat(rev).isEqualTo("0-" + round);
        assertThat(server.get("/w/_local/x").body()).endsWith("\"n\":" + round + "}\n");
      }
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "{\"_revisions\":{\"start\":0,\"ids\":[\"7\",\"3\"]}}                  | 0-8",
          "{\"_revisions\":{\"start\":0,\"ids\":[\"7\"]},\"_rev\":\"0-3\"}       | 0-8",
          "{\"_rev\":\"0-3\",\"_revisions\":{\"start\":0,\"ids\":[\"7\"]}}       | 0-8",
          "{\"_revisions\":{\"start\":0,\"ids\":[]},\"_rev\":\"0-3\"}            | 0-4",
          "{\"_revisions\":{\"start\":0,\"ids\":[]}}                             | 0-1",
          "{\"_revisions\":{\"start\":0,\"ids\":[\"7\"]},\"_deleted\":true}      | 0-0",
        })
    void revisions_count_before_the_revision(String json, String rev) {
      Answer put = server.put("/w/_local/x", json);
      assertThat(put.member("rev")).isEqualTo(rev);
      assertThat(put.header("location")).isEqualTo("http://host/w/_local%2Fx");

      String withId = json.replaceFirst("\\{", "{\"_id\":\"_local/x\",");
      assertThat(server.post("/w", withId).member("rev")).isEqualTo(rev);
      assertThat(server.post("/w/_bulk_docs", "{\"docs\":[" + withId + "]}").member("rev"))
          .isEqualTo(rev);
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "{\"_rev\":\"1-abc\"}                                 | bad_request",
          "{\"_rev\":\"x\"}                                     | bad_request",
          "{\"_revisions\":{\"start\":1,\"ids\":[\"abc\"]}}     | bad_request",
          "{\"_revisions\":{\"start\":0,\"ids\":[\"abc\"]}}     | bad_request",
          "{\"_revisions\":{\"start\":0,\"ids\":[7]}}           | doc_validation",
          "{\"_revisions\":{\"ids\":[\"7\"]}}                   | doc_validation",
          "{\"_revisions\":7}                                   | doc_validation",
        })
    void other_revisions_are_400(String json, String error) {
      Answer answer = server.put("/w/_local/x", json).expect(400);
      assertThat(answer.member("error")).isEqualTo(error);
      server.get("/w/_local/x").expect(PLAIN);
    }

    @Test
    void revisions_that_differ_are_400() {
      assertThat(server.put("/w/_local/x?rev=0-1", "{\"_rev\":\"0-2\"}").member("reason"))
          .isEqualTo("Document rev from request body and query string have different values");
      assertThat(
              server
                  .request("PUT", "/w/_local/x", "If-Match", "\"0-1\"")
                  .json(json("{'_rev':'0-2'}"))
                  .send()
                  .member("reason"))
          .isEqualTo("Document rev and etag have different values");
      assertThat(server.put("/w/_local/x?rev=0-2", "{\"_rev\":\"0-2\"}").member("rev"))
          .isEqualTo("0-3");
    }

    @Test
    void a_replicated_one_has_to_name_a_revision() {
      assertThat(server.put("/w/_local/x?new_edits=false", "{\"_rev\":\"0-2\"}").member("rev"))
          .isEqualTo("0-3");
      Answer none = server.put("/w/_local/x?new_edits=false", "{}").expect(400);
      assertThat(none.member("reason")).contains("the document needs `_rev`");
    }

    @Test
    void revs_shows_the_revision_itself() {
      Answer revs = server.get("/w/_local/x?revs=true").expect(WITH_REVISIONS);
      assertThat(revs.header("etag")).isEqualTo(server.get("/w/_local/x").header("etag"));
      server.get("/w/_local/x?revs=true&meta=true").expect(WITH_REVISIONS);
      server.put("/w/_local/e", "{}").expect(201);
      server
          .get("/w/_local/e?revs=true")
          .expect(json("{'_id':'_local/e','_rev':'0-1','_revisions':{'start':0,'ids':['1']}}\n"));
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "revs_info=true",
          "conflicts=true&deleted_conflicts=true",
          "meta=true",
          "local_seq=true",
          "attachments=true",
          "rev=0-2&latest=true",
          "rev=0-9&latest=true",
          "revs=maybe"
        })
    void what_a_local_document_does_not_have_is_passed_over(String query) {
      Answer answer = server.get("/w/_local/x?" + query).expect(200, PLAIN);
      String tag = answer.header("etag");
      assertThat(tag).matches("\"[0-9A-Z]{1,25}\"");
      server.request("GET", "/w/_local/x?" + query, "If-None-Match", tag).send().expect(304);
      Answer head = server.head("/w/_local/x?" + query).expect(200);
      assertThat(head.header("etag")).isEqualTo(tag);
      assertThat(head.header("content-length")).isEqualTo(Integer.toString(PLAIN.length()));
    }

    @Test
    void a_write_does_not_tell_the_tag_of_the_content() {
      assertThat(server.put("/w/_local/x", "{\"_rev\":\"0-1\",\"v\":3}").header("etag")).isNull();
      assertThat(server.get("/w/_local/x").header("etag")).isNotNull();
      assertThat(server.put("/w/x", "{}").header("etag")).isNotNull();
      Answer copy = server.request("COPY", "/w/x", "Destination", "_local/y").send().expect(201);
      assertThat(copy.header("etag")).isNull();
      assertThat(server.delete("/w/_local/x").header("etag")).isNull();
    }

    @ParameterizedTest
    @CsvSource({
      "rev=0-2, 404, missing",
      "rev=0-1, 404, missing",
      "rev=x, 400, Invalid rev format",
      "open_revs=all, 404, missing"
    })
    void it_has_no_revisions_that_could_be_asked_for(String query, int status, String reason) {
      Answer answer = server.get("/w/_local/x?" + query).expect(status);
      assertThat(answer.member("reason")).isEqualTo(reason);
      server.head("/w/_local/x?" + query).expect(status);
      assertThat(server.post("/w/_bulk_get", "{\"docs\":[{\"id\":\"_local/x\"}]}").body())
          .contains("\"reason\":\"missing\"");
    }

    @Test
    void a_deletion_takes_any_revision() {
      server.delete("/w/_local/x?rev=x").expect(400);
      server.delete("/w/_local/none?rev=x").expect(404);
      Answer differing = server.request("DELETE", "/w/_local/x?rev=0-1", "If-Match", "0-2").send();
      assertThat(differing.member("reason"))
          .isEqualTo("Document rev and etag have different values");

      server
          .request("DELETE", "/w/_local/x", "If-Match", "\"0-9\"")
          .send()
          .expect(200, json("{'ok':true,'id':'_local/x','rev':'0-0'}\n"));
      server.delete("/w/_local/x").expect(404);
    }
  }
}
