package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /{db}/_local/{id}}: the answers of CouchDB 3.5.2, except its status 500. */
final class LocalDocumentResourceTest {
  private static final String PLAIN = "{\"_id\":\"_local/x\",\"_rev\":\"0-2\",\"v\":2}\n";
  private static final String WITH_REVISIONS =
      json("{'_id':'_local/x','_rev':'0-2','v':2,'_revisions':{'start':0,'ids':['2']}}\n");

  @RegisterExtension static final LectusServer server = LectusServer.shared();

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
    assertThat(differing.member("reason")).isEqualTo("Document rev and etag have different values");

    server
        .request("DELETE", "/w/_local/x", "If-Match", "\"0-9\"")
        .send()
        .expect(200, json("{'ok':true,'id':'_local/x','rev':'0-0'}\n"));
    server.delete("/w/_local/x").expect(404);
  }
}
