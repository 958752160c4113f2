package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import lectus.config.ProxyKeys;
import lectus.document.read.AllDocsSubspace;
import lectus.document.testing.TestDatabase;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Failures;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.json.TupleWriter;
import lectus.metrics.RequestLabel;
import lectus.store.Store;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * PUT, POST, DELETE, GET and HEAD of documents, and the log lines of writes whose clients do not
 * wait for the outcome.
 */
final class DocumentEditingTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  /** The refusal of a write whose base is not the live revision. */
  private static final String CONFLICT =
      "{\"error\":\"conflict\",\"reason\":\"Document update conflict.\"}\n";

  @AutoClose
  private final LogLines log = LogLines.of(WriteReply.FireAndForget.class, Failures.class);

  @Test
  void put_answers_the_new_revision() {
    Answer written = server.put("/w/a", "{\"v\":1}");
    String rev = written.member("rev");

    written.expect(201);
    assertThat(rev).matches("1-[0-9a-f]{32}");
    written.expect("{\"ok\":true,\"id\":\"a\",\"rev\":\"" + rev + "\"}\n");
    assertThat(written.header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(written.header("location")).isEqualTo("http://host/w/a");
    server.get("/w/a").expect("{\"_id\":\"a\",\"_rev\":\"" + rev + "\",\"v\":1}\n");
  }

  @Test
  void locations_are_encoded_as_couchdb_does() {
    assertThat(server.put("/w/_design/dd", "{}").header("location"))
        .isEqualTo("http://host/w/_design%2Fdd");
    assertThat(server.put("/w/p%20q%2F%C3%BC", "{}").header("location"))
        .isEqualTo("http://host/w/p%20q%2F%C3%BC");
    assertThat(server.put("/w/a.b:c-d_e~", "{}").header("location"))
        .isEqualTo("http://host/w/a.b:c-d_e%7E");
  }

  @Test
  void put_takes_any_content_type() {
    byte[] body = "{}".getBytes(StandardCharsets.UTF_8);

    server.request("PUT", "/w/a").body(body).send().expect(201);
    server
        .request("PUT", "/w/b", "Content-Type", "text/plain", "X-Couch-Full-Commit", "true")
        .body(body)
        .send()
        .expect(201);
  }

  @Test
  void the_path_counts_more_than_the_id_in_the_body() {
    assertThat(server.put("/w/a", "{\"_id\":\"b\"}").member("id")).isEqualTo("a");
    server.get("/w/b").expect(404);
  }

  @Test
  void the_base_may_come_in_the_body_the_query_or_the_header() {
    String one = server.write("/w/a", "{}");
    String two = server.write("/w/a", "{\"_rev\":\"" + one + "\"}");
    String three = server.write("/w/a?rev=" + two, "{}");
    Answer quoted =
        server.request("PUT", "/w/a", "If-Match", "\"" + three + "\"").json("{}").send();
    Answer bare =
        server
            .request("PUT", "/w/a", "If-Match", quoted.member("rev"))
            .json("{}")
            .send()
            .expect(201);
    assertThat(bare.member("rev")).startsWith("5-");
  }

  @Test
  void a_put_tombstone_is_200_and_a_new_document_goes_on_from_it() {
    String one = server.write("/w/a", "{}");
    Answer tombstone =
        server.put("/w/a", "{\"_rev\":\"" + one + "\",\"_deleted\":true}").expect(200);
    assertThat(tombstone.member("rev")).startsWith("2-");
    assertThat(server.write("/w/a", "{}")).startsWith("3-");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "PUT    | /w/a                | {\"_deleted\":false}              | 201",
        "PUT    | /w/a                | {\"_deleted\":true,\"v\":1}       | 200",
        "PUT    | /w/a?new_edits=false | {\"_deleted\":true,\"_rev\":\"2-b\"} | 200",
        "PUT    | /w/a?new_edits=false | {\"_rev\":\"2-b\"}             | 201",
        "PUT    | /w/a?new_edits=false&rev=2-b | {}                     | 201",
        "PUT    | /w/a?new_edits=foo  | {}                              | 201",
        "PUT    | /w/a?batch=true     | {}                              | 201",
        "PUT    | /w/a?w=x&r=1&n=1    | {}                              | 201",
        "POST   | /w                  | {\"_id\":\"a\",\"_deleted\":true} | 201",
        "POST   | /w?batch=ok         | {\"_id\":\"a\"}                 | 202",
        "PUT    | /w/a                | {\"_deleted\":\"true\"}           | 400",
        "PUT    | /w/a                | {\"_deleted\":null}               | 400",
        "PUT    | /w/a                | null                            | 400",
        "PUT    | /w/a                | 7                               | 400",
        "PUT    | /w/a?new_edits=false | {}                             | 400",
        "PUT    | /w/a?batch=ok&new_edits=false | {}                    | 400",
        "PUT    | /w/a?batch=ok       | {\"_rev\":\"x\"}                | 400",
        "POST   | /w?batch=ok         | {\"_id\":\"_x\"}                | 400",
        "POST   | /w                  | {\"_id\":\"\"}                  | 400",
        "POST   | /w                  | null                            | 400",
      })
  void statuses_are_couchdbs(String method, String target, String json, int status) {
    server.request(method, target).json(json).send().expect(status);
  }

  @Test
  void a_post_without_an_id_is_a_new_document_whatever_revision_it_names() {
    Answer posted = server.post("/w", "{\"_rev\":\"4-abc\",\"v\":1}").expect(201);
    assertThat(posted.member("rev")).startsWith("1-");
  }

  @Test
  void members_of_couchdbs_replicator_come_back() {
    String notes =
        "\"_access\":[\"u\"],\"_replication_id\":\"i\",\"_replication_state\":\"s\","
            + "\"_replication_state_reason\":{\"a\":1},\"_replication_state_time\":\"t\","
            + "\"_replication_stats\":[1],\"b\":1}";
    String rev = server.write("/w/a", "{" + notes);

    server.get("/w/a").expect("{\"_id\":\"a\",\"_rev\":\"" + rev + "\"," + notes + "\n");
    assertThat(server.get("/w/a?fields=[\"_replication_state\"]").body())
        .contains("\"_replication_state\":\"s\"");
    server.post("/w", "{\"_id\":\"p\"," + notes).expect(201);
    server.request("COPY", "/w/a", "Destination", "c").send().expect(201);
    assertThat(server.get("/w/c").body()).endsWith(notes + "\n");
  }

  @Test
  void batch_is_taken_without_a_revision() {
    Answer batch =
        server.put("/w/b?batch=ok", "{\"v\":1}").expect(202, "{\"ok\":true,\"id\":\"b\"}\n");
    assertThat(batch.headers()).doesNotContainKeys("etag", "location");
    assertThat(server.put("/w/b?rev=1-x", "{}").status()).as("queued behind it").isEqualTo(409);
    assertThat(server.get("/w/b").body()).contains("\"v\":1");
    server.post("/w?batch=ok", "{\"_id\":\"c\"}").expect(202, "{\"ok\":true,\"id\":\"c\"}\n");
  }

  @Test
  void a_replicated_revision_is_kept_as_it_came() {
    Answer written =
        server
            .put("/w/x6?new_edits=false", "{\"_rev\":\"3-abc\",\"v\":1}")
            .expect(201, "{\"ok\":true,\"id\":\"x6\",\"rev\":\"3-abc\"}\n");
    server.put("/w/x6?new_edits=false", "{\"_rev\":\"3-abc\",\"v\":1}").expect(201, written.body());
    server.get("/w/x6").expect("{\"_id\":\"x6\",\"_rev\":\"3-abc\",\"v\":1}\n");
    server.put("/w/x7?new_edits=false", "{}").expect(400);
  }

  @Test
  void post_makes_an_id_where_there_is_none() {
    Answer named = server.post("/w", "{\"_id\":\"n\"}");
    Answer made = server.post("/w", "{\"v\":1}");

    named.expect(201);
    assertThat(named.member("id")).isEqualTo("n");
    assertThat(named.header("location")).isEqualTo("http://host/w/n");
    assertThat(named.headers()).doesNotContainKey("etag");
    assertThat(made.member("id")).matches("[0-9a-f]{32}");
    assertThat(made.header("location")).isEqualTo("http://host/w/" + made.member("id"));
    server.post("/w", "{\"_id\":\"n\"}").expect(CONFLICT);
  }

  @Test
  void delete_answers_the_tombstones_revision() {
    String one = server.write("/w/g", "{\"v\":1}");
    Answer deleted = server.delete("/w/g?rev=" + one).expect(200);
    String two = deleted.member("rev");
    deleted.expect("{\"ok\":true,\"id\":\"g\",\"rev\":\"" + two + "\"}\n");
    assertThat(deleted.header("etag")).isEqualTo("\"" + two + "\"");
    server
        .get("/w/g?rev=" + two)
        .expect("{\"_id\":\"g\",\"_rev\":\"" + two + "\",\"_deleted\":true}\n");
  }

  @Test
  void delete_wants_the_live_revision() {
    String one = server.write("/w/g", "{}");

    server.delete("/w/g").expect(CONFLICT);
    server.delete("/w/g?rev=1-a").expect(CONFLICT);
    server.request("DELETE", "/w/g", "If-Match", one).send().expect(200);
  }

  @Test
  void deleting_what_is_not_there_is_404_whatever_the_rev() {
    String one = server.write("/w/g", "{}");
    String two = server.delete("/w/g?rev=" + one).member("rev");

    for (String query : new String[] {"", "?rev=" + one, "?rev=" + two, "?rev=x"}) {
      server
          .delete("/w/g" + query)
          .expect(404, "{\"error\":\"not_found\",\"reason\":\"deleted\"}\n");
      server
          .delete("/w/never" + query)
          .expect("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    }
  }

  @Test
  void a_deletion_is_not_put_off_and_its_body_is_passed_over() {
    String one = server.write("/w/g", "{}");
    Answer deleted =
        server
            .request("DELETE", "/w/g?batch=ok&rev=" + one)
            .json("{\"_rev\":\"1-zzz\",\"_deleted\":false}")
            .send()
            .expect(200);
    assertThat(deleted.member("rev")).startsWith("2-");
  }

  @Test
  void a_local_document_may_be_posted_and_takes_if_match() {
    server
        .post("/w", "{\"_id\":\"_local/p\",\"v\":1}")
        .expect(201, "{\"ok\":true,\"id\":\"_local/p\",\"rev\":\"0-1\"}\n");

    Answer put = server.request("PUT", "/w/_local/p", "If-Match", "\"0-1\"").json("{}").send();
    assertThat(put.member("rev")).isEqualTo("0-2");
    assertThat(put.header("location")).isEqualTo("http://host/w/_local%2Fp");
    server.put("/w/_local/p?batch=ok", "{}").expect(202);
    server.put("/w/_local/p", "{\"_deleted\":true}").expect(200);
    server.get("/w/_local/p").expect(404);
  }

  @Test
  void copy_makes_and_replaces() {
    server.write("/w/s", "{\"v\":1,\"o\":{\"a\":[1,2]}}");
    server.write("/w/empty", "{}");
    String target = server.write("/w/f", "{}");

    Answer made = server.request("COPY", "/w/s", "Destination", "g%2Fh").send().expect(201);
    assertThat(made.member("id")).isEqualTo("g/h");
    assertThat(made.header("location")).isEqualTo("http://host/w/g%2Fh");
    assertThat(made.header("etag")).isEqualTo("\"" + made.member("rev") + "\"");
    assertThat(server.get("/w/g%2Fh").body()).endsWith("\"v\":1,\"o\":{\"a\":[1,2]}}\n");
    Answer over = server.request("COPY", "/w/empty", "Destination", "f?rev=" + target).send();
    assertThat(over.member("rev")).startsWith("2-");
    server.request("COPY", "/w/s", "Destination", "f").send().expect(CONFLICT);
  }

  @Test
  void local_documents_can_be_copied_and_copies() {
    server.write("/w/s", "{\"v\":1}");
    server.write("/w/_local/l", "{\"v\":2}");

    server
        .request("COPY", "/w/s", "Destination", "_local/t?rev=0-3")
        .send()
        .expect(201, "{\"ok\":true,\"id\":\"_local/t\",\"rev\":\"0-4\"}\n");
    server.get("/w/_local/t").expect("{\"_id\":\"_local/t\",\"_rev\":\"0-4\",\"v\":1}\n");

    assertThat(server.request("COPY", "/w/_local/l", "Destination", "d").send().member("rev"))
        .startsWith("1-");
    assertThat(server.get("/w/d").body()).contains("\"v\":2");
    server.request("COPY", "/w/_local/none", "Destination", "d").send().expect(404);
    assertThat(server.request("COPY", "/w/_local/l?rev=0-1", "Destination", "e").send().status())
        .as("it has no revisions to choose from")
        .isEqualTo(404);
  }

  @Test
  void a_tombstone_is_copied_as_one() {
    String one = server.write("/w/s", "{}");
    String two = server.delete("/w/s?rev=" + one).member("rev");

    server.request("COPY", "/w/s?rev=" + two, "Destination", "t").send().expect(201);
    assertThat(server.get("/w/t").member("reason")).isEqualTo("deleted");
    server.request("COPY", "/w/s", "Destination", "t").send().expect(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "u%2Fv           | 201 | u/v",
        "u v             | 201 | u v",
        "u+v             | 201 | u v",
        "HTTP://x/y      | 201 | HTTP://x/y",
        "/w/z            | 201 | /w/z",
        "_design/c       | 201 | _design/c",
        "t?rev=1-b       | 409 | conflict",
        "t?foo=1-b       | 409 | conflict",
        "t?rev=x         | 400 | bad_request",
        "t?rev           | 400 | bad_request",
        "http://host/w/x | 400 | bad_request",
        "https://x/y     | 400 | bad_request",
        "?rev=1-b        | 400 | illegal_docid",
        "_x              | 400 | illegal_docid",
      })
  void destinations(String destination, int status, String idOrError) {
    server.write("/w/s", "{}");
    server.write("/w/t", "{}");

    Answer copy = server.request("COPY", "/w/s", "Destination", destination).send().expect(status);
    assertThat(copy.member(status == 201 ? "id" : "error")).isEqualTo(idOrError);
    Answer late = server.request("COPY", "/w/s?batch=ok", "Destination", "late" + status).send();
    assertThat(late.status()).as("copies are not put off").isEqualTo(201);
  }

  @Test
  void copy_wants_a_source_and_a_relative_destination() {
    server.write("/w/s", "{}");

    assertThat(server.request("COPY", "/w/s").send().member("reason"))
        .isEqualTo("Destination header is mandatory for COPY.");
    assertThat(
            server
                .request("COPY", "/w/s", "Destination", "http://host/w/x")
                .send()
                .member("reason"))
        .isEqualTo("Destination URL must be relative.");
    server.request("COPY", "/w/none", "Destination", "x").send().expect(404);
    server.request("COPY", "/w/s", "Destination", "_x").send().expect(400);
  }

  @Test
  void a_document_comes_with_its_tag() {
    String rev = server.write("/w/a", "{\"v\":1}");
    Answer read =
        server.get("/w/a").expect(200, "{\"_id\":\"a\",\"_rev\":\"" + rev + "\",\"v\":1}\n");
    assertThat(read.header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(read.isChunked()).isFalse();
    Answer head = server.head("/w/a");
    assertThat(head.header("content-length")).isEqualTo(read.header("content-length"));
    assertThat(head.header("etag")).isEqualTo(read.header("etag"));
  }

  @Test
  void missing_and_deleted_are_told_apart() {
    String rev = server.write("/w/g", "{}");
    server.delete("/w/g?rev=" + rev);

    server.get("/w/never").expect(404, "{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    for (String query : new String[] {"", "?revs_info=true"}) {
      server.get("/w/g" + query).expect("{\"error\":\"not_found\",\"reason\":\"deleted\"}\n");
    }
    server.head("/w/g").expect(404);
    server.get("/w/_unknown").expect(404);
  }

  @Test
  void if_none_match_saves_the_body() {
    String rev = server.write("/w/a", "{}");

    for (String seen :
        new String[] {"\"" + rev + "\"", "\"1-x\", \"" + rev + "\"", "W/\"" + rev + "\""}) {
      Answer same = ifNoneMatch(seen).send();
      assertThat(same.status()).as(seen).isEqualTo(304);
      assertThat(same.header("etag")).isEqualTo("\"" + rev + "\"");
      assertThat(same.header("content-length")).isEqualTo("0");
    }
    ifNoneMatch("\"1-x\"").send().expect(200);
    ifNoneMatch("*").send().expect(200);
  }

  /** The second time the document is in memory and the event loop answers by itself. */
  @Test
  void what_is_in_memory_is_answered_like_what_is_read() {
    String rev = server.write("/w/a", "{\"v\":1}");
    Answer read = server.get("/w/a");
    Answer hot = server.get("/w/a").expect(200, read.body());
    assertThat(hot.headers().keySet()).isEqualTo(read.headers().keySet());
    assertThat(hot.header("etag")).isEqualTo(read.header("etag"));
    assertThat(server.head("/w/a").header("content-length"))
        .isEqualTo(read.header("content-length"));

    String second = server.write("/w/a?rev=" + rev, "{\"v\":2}");
    assertThat(server.get("/w/a").member("_rev")).isEqualTo(second);
    assertThat(server.get("/w/a").body()).contains("\"v\":2");
    server.delete("/w/a?rev=" + second);
    server.get("/w/a").expect(404);
    assertThat(server.get("/w/a").member("reason")).isEqualTo("deleted");
    server.delete("/w");
    server.get("/w/a").expect(404);
    server.put("/w");
    assertThat(server.get("/w/a").member("reason")).isEqualTo("missing");
  }

  private Request ifNoneMatch(String tags) {
    return server.request("GET", "/w/a", "If-None-Match", tags);
  }

  @Test
  void history_is_added_on_demand() {
    String one = server.write("/w/a", "{}");
    String two = server.write("/w/a?rev=" + one, "{\"v\":2}");
    String start = "{\"_id\":\"a\",\"_rev\":\"" + two + "\",\"v\":2,";

    Answer revs =
        server
            .get("/w/a?revs=true")
            .expect(
                start
                    + "\"_revisions\":{\"start\":2,\"ids\":[\""
                    + two.substring(2)
                    + "\",\""
                    + one.substring(2)
                    + "\"]}}\n");
    assertThat(revs.header("etag")).isEqualTo("\"" + two + "\"");
    Answer infos =
        server
            .get("/w/a?revs_info=true")
            .expect(
                start
                    + "\"_revs_info\":[{\"rev\":\""
                    + two
                    + "\",\"status\":\"available\"},{\"rev\":\""
                    + one
                    + "\",\"status\":\"missing\"}]}\n");
    assertThat(infos.headers()).doesNotContainKey("etag");
    assertThat(server.get("/w/a?revs=maybe").body()).doesNotContain("_revisions");
    assertThat(server.get("/w/a?local_seq=true").body()).contains("\"_local_seq\":");
  }

  @Test
  void conflicts_are_listed_highest_first() {
    replicated("{\"_rev\":\"2-b\"}");
    assertThat(server.get("/w/c?conflicts=true").body()).doesNotContain("_conflicts");
    replicated("{\"_rev\":\"2-a\"}");
    replicated("{\"_rev\":\"1-z\"}");
    replicated("{\"_rev\":\"4-d\",\"_deleted\":true}");

    Answer conflicts = server.get("/w/c?conflicts=true");
    assertThat(conflicts.body()).contains("\"_conflicts\":[\"2-a\",\"1-z\"]");
    assertThat(conflicts.headers()).doesNotContainKey("etag");
    assertThat(server.get("/w/c?deleted_conflicts=true").body())
        .contains("\"_deleted_conflicts\":[\"4-d\"]");
    assertThat(server.get("/w/c?meta=true").body())
        .matches(".*\"_revs_info\":.*\"_conflicts\":.*\"_deleted_conflicts\":.*\n");
    server.get("/w/c?rev=2-a&meta=true").expect("{\"_id\":\"c\",\"_rev\":\"2-a\"}\n");
  }

  @Test
  void a_revision_can_be_asked_for() {
    String one = server.write("/w/a", "{\"v\":1}");
    String two = server.write("/w/a?rev=" + one, "{\"v\":2}");

    assertThat(server.get("/w/a?rev=" + two).body()).contains("\"v\":2");
    server.get("/w/a?rev=" + one).expect(404);
    assertThat(server.get("/w/a?rev=" + one + "&latest=true").body()).contains("\"v\":2");
    server
        .get("/w/a?rev=x")
        .expect(400, "{\"error\":\"bad_request\",\"reason\":\"Invalid rev format\"}\n");
  }

  @Test
  void open_revisions_come_as_an_array() {
    replicated("{\"_rev\":\"2-b\",\"v\":2}");
    replicated("{\"_rev\":\"1-a\",\"_deleted\":true}");

    Answer all = asJson("/w/c?open_revs=all");
    assertThat(all.isChunked()).isTrue();
    assertThat(all.header("content-type")).isEqualTo("application/json");
    all.expect(
        "[{\"ok\":{\"_id\":\"c\",\"_rev\":\"1-a\",\"_deleted\":true}},"
            + "{\"ok\":{\"_id\":\"c\",\"_rev\":\"2-b\",\"v\":2}}]\n");
    assertThat(asJson("/w/c?open_revs=[%222-b%22,%229-abc%22]").body())
        .isEqualTo("[{\"ok\":{\"_id\":\"c\",\"_rev\":\"2-b\",\"v\":2}},{\"missing\":\"9-abc\"}]\n");
    assertThat(server.get("/w/c?open_revs=[]").body()).startsWith("{\"_id\":\"c\"");
    server.get("/w/never?open_revs=all").expect(404);
    server.get("/w/c?open_revs=x").expect(400);
  }

  @Test
  void attachments_are_among_the_fields_where_they_are_named() {
    String rev = server.write("/w/a", "{\"v\":1,\"_attachments\":{\"x\":{\"data\":\"YQ==\"}}}");
    assertThat(server.get("/w/a?fields=[%22_attachments%22]").body())
        .startsWith("{\"_id\":\"a\",\"_rev\":\"" + rev + "\",\"_attachments\":{\"x\":{")
        .contains("\"stub\":true")
        .doesNotContain("\"v\"");
    assertThat(server.get("/w/a?fields=[%22_attachments.x.length%22]").body())
        .endsWith(",\"_attachments\":{\"x\":{\"length\":1}}}\n");
    assertThat(server.get("/w/a?fields=[%22v%22]").body()).endsWith(",\"v\":1}\n");
  }

  @Test
  void fields_are_read_alone() {
    server.write("/w/a", "{\"a\":{\"b\":1,\"x\":2},\"c\":[3],\"d\":4}");

    assertThat(server.get("/w/a?fields=[%22a.b%22,%22c%22]").body())
        .contains("\"a\":{\"b\":1}")
        .contains("\"c\":[3]")
        .doesNotContain("\"d\"");
    for (String bad : List.of("7", "a", "[1]", "[%22a%22")) {
      Answer refused = server.get("/w/a?fields=" + bad).expect(400);
      assertThat(refused.member("reason")).isEqualTo("`fields` must be an array of strings.");
    }
  }

  private Answer asJson(String target) {
    return server.request("GET", target, "Accept", "application/json").send();
  }

  private void replicated(String json) {
    server.write("/w/c?new_edits=false", json);
  }

  /** Each of these is one document, whatever a URL library would make of it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        ".",
        "..",
        "%2E",
        "%2e%2E",
        "a%2Fb",
        "%2Fa",
        "a%2F",
        "a%252Fb",
        "a+b",
        "a%2Bb",
        "%25",
        "a;b",
        "a=b",
        "%00",
        "%F0%9F%98%80",
        "%C3%BC",
        "a%3Fb",
        "%23",
        "a:b@c",
        "~%7E"
      })
  void odd_names_are_names(String encoded) {
    String rev = server.write("/w/" + encoded, "{\"v\":1}");

    assertThat(server.get("/w/" + encoded).header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(server.get("//w//" + encoded).header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(server.get("/w").body()).contains("\"doc_count\":1");
    server.delete("/w/" + encoded + "?rev=" + rev).expect(200);
    assertThat(server.get("/w").status()).as("the database is still there").isEqualTo(200);
  }

  @Test
  void names_are_decoded_once() {
    server.write("/w/a%20b", "{\"v\":1}");
    server.write("/w/a%2Bb", "{\"v\":2}");
    server.write("/w/a%252Fb", "{\"v\":3}");
    server.write("/w/.", "{\"v\":4}");

    assertThat(server.get("/w/a+b").body()).startsWith("{\"_id\":\"a b\"");
    assertThat(server.get("/w/a%2bb").body()).startsWith("{\"_id\":\"a+b\"");
    assertThat(server.get("/w/a%252Fb").body()).startsWith("{\"_id\":\"a%2Fb\"");
    assertThat(server.get("/w/%2E").body()).startsWith("{\"_id\":\".\"");
    server.get("/w/_design%2Fdd").expect(404);
  }

  @Test
  void design_documents_have_two_spellings() {
    String rev = server.write("/w/_design/dd", "{\"language\":\"x\"}");

    assertThat(server.get("/w/_design%2Fdd").header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(server.get("/w/_design/dd").body()).startsWith("{\"_id\":\"_design/dd\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"%", "%4", "%4g", "%GG"})
  void urls_that_are_not_percent_encoded_are_400(String name) {
    for (String target : new String[] {"/w/" + name, "/w?x=" + name, "/w/a?rev=" + name}) {
      server
          .get(target)
          .expect(400, "{\"error\":\"bad_request\",\"reason\":\"invalid_url_encoding\"}\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"%FF", "%C3", "%ED%A0%80", "a%C0%80"})
  void parameters_that_are_no_utf8_are_400_where_they_are_read(String value) {
    assertThat(server.get("/w?x=" + value).status()).as("nobody asks for x").isEqualTo(200);
    server.get("/w/a?rev=" + value).expect(400);
  }

  @Test
  void a_failure_that_was_foreseen_is_a_line_without_a_complaint() {
    unattended("r1").failed(FoundationDbError.NO_SPACE.exception("The disk is full."));
    unattended("r2").failed(new LectusException(new LectusError.NotFound("missing")));

    assertThat(log.events()).hasSize(2);
    assertThat(log.events()).allMatch(line -> line.getLevel() == Level.INFO);
    assertThat(log.events()).allMatch(line -> line.getThrowableProxy() == null);
    assertThat(log.events().get(0).getFormattedMessage())
        .isEqualTo("batch edit failed: The disk is full.");
    assertThat(log.events().get(0).getKeyValuePairs())
        .extracting(field -> field.key + "=" + field.value)
        .containsExactly("request=r1", "user=ann", "db=work");
  }

  private static WriteReply.FireAndForget unattended(String request) {
    return new WriteReply.FireAndForget(
        new RequestLabel(request, Optional.of("ann"), Optional.of("work")));
  }

  @Test
  void what_nobody_foresaw_is_told_with_its_cause() {
    unattended("r").failed(new IllegalStateException("broken"));

    assertThat(log.events().get(0).getLevel()).isEqualTo(Level.ERROR);
    assertThat(log.events().get(0).getThrowableProxy()).isNotNull();
  }

  /** Base revisions, bodies, ids, forms and methods with which no document is written. */
  @Nested
  class Refused {
    @RegisterExtension
    static final LectusServer server =
        LectusServer.shared(new TestSettings().with(ProxyKeys.TRUSTED_PROXIES, "127.0.0.1"), "/w");

    @Test
    void bases_that_differ_are_400() {
      String one = server.write("/w/a", "{}");

      Answer header =
          server
              .request("PUT", "/w/a?rev=" + one, "If-Match", "\"1-b\"")
              .json("{}")
              .send()
              .expect(400);
      assertThat(header.member("reason")).isEqualTo("Document rev and etag have different values");
      Answer body =
          server
              .request("PUT", "/w/a", "If-Match", "\"1-b\"")
              .json("{\"_rev\":\"" + one + "\"}")
              .send()
              .expect(400);
      assertThat(body.member("reason")).isEqualTo("Document rev and etag have different values");
      Answer query =
          server
              .request("PUT", "/w/a?rev=" + one, "If-Match", "\"1-c\"")
              .json("{\"_rev\":\"1-b\"}")
              .send()
              .expect(400);
      assertThat(query.member("reason"))
          .isEqualTo("Document rev from request body and query string have different values");
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "W/\"1-b\"", "\"\"", "x"})
    void what_is_no_revision_is_400_wherever_it_stands(String text) {
      server.write("/w/a", "{}");

      for (Answer answer :
          List.of(
              server.request("PUT", "/w/a", "If-Match", text).json("{}").send(),
              server.request("DELETE", "/w/a", "If-Match", text).send(),
              server.request("COPY", "/w/a", "If-Match", text, "Destination", "b").send(),
              server.put("/w/a?rev=x", "{}"),
              server.delete("/w/a?rev=x"))) {
        answer.expect(400);
        assertThat(answer.member("reason")).isEqualTo("Invalid rev format");
      }
    }

    @Test
    void a_stale_or_absent_base_is_a_conflict() {
      String one = server.write("/w/a", "{}");
      server.write("/w/a?rev=" + one, "{\"v\":2}");

      for (String target :
          new String[] {"/w/a", "/w/a?rev=" + one, "/w/a?rev=9-a", "/w/n?rev=1-a"}) {
        Answer answer = server.put(target, "{}");
        assertThat(answer.status()).as(target).isEqualTo(409);
        answer.expect(CONFLICT);
      }
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "{\"_foo\":1}|400|doc_validation",
          "{\"a\":|400|bad_request",
          "[]|400|bad_request",
          "|400|bad_request",
          "{\"_attachments\":{\"x\":{\"data\":\"?\"}}}|400|bad_request"
        })
    void a_body_that_is_no_document_stores_nothing(String body, int status, String error) {
      Answer answer = server.put("/w/a", body == null ? "" : body).expect(status);
      assertThat(answer.member("error")).isEqualTo(error);
      server.get("/w/a").expect(404);
      assertThat(server.get("/w").body()).contains("\"doc_count\":0");
    }

    @Test
    void bad_json_is_told_with_line_and_column() {
      assertThat(server.put("/w/a", "{\n \"a\": x}").member("reason")).contains("line 2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"_a", "_", "_design%2F"})
    void reserved_ids_are_400(String id) {
      Answer answer = server.put("/w/" + id, "{}").expect(400);
      assertThat(answer.member("error")).isEqualTo("illegal_docid");
    }

    @Test
    void ids_are_512_bytes_at_most() {
      server.put("/w/" + "i".repeat(512), "{}").expect(201);
      Answer tooLong = server.put("/w/" + "i".repeat(513), "{}").expect(400);
      assertThat(tooLong.member("error")).isEqualTo("illegal_docid");
      server.get("/w/" + "i".repeat(513)).expect(404);
    }

    @Test
    void big_documents_are_refused_with_the_limit() {
      Answer tooLarge = server.put("/w/a", "{\"a\":[0" + ",1e9".repeat(700_000) + "]}").expect(413);
      assertThat(tooLarge.member("error")).isEqualTo("document_too_large");
      assertThat(tooLarge.member("reason"))
          .isEqualTo("The document has 9100009 bytes of JSON, the limit is 8000000.");
      server.get("/w/a").expect(404);
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "/w/a         |                | application/json         | 400 | Referer header"
              + " required.",
          "/w/_design/x |                | application/json         | 400 | Referer header"
              + " required.",
          "/w/_local/x  |                | application/json         | 400 | Referer header"
              + " required.",
          "/w/a         | http://other/  | application/json         | 400 | Referer header must"
              + " match host.",
          "/w/a         | http://[       | application/json         | 400 | Referer header must"
              + " match host.",
          "/w/_x        | http://host/y  | application/json         | 400 | Only reserved document"
              + " ids may start with underscore.",
          "/w/a         | http://host/y  | application/json         | 415 | Content-Type must be"
              + " multipart/form-data",
          "/w/a         | http://host/y  | multipart/form-data; b=x | 400 | The Content-Type"
              + " multipart/form-data needs a boundary of 1 to 70 characters.",
          "/w/_local/a  | http://host/y  | multipart/form-data; boundary=x | 400 | Local documents"
              + " have no attachments.",
        })
    void a_form_is_no_document(
        String target, String referer, String type, int status, String reason) {
      Request form = server.request("POST", target, "Content-Type", type);
      Answer answer =
          (referer == null ? form : form.header("Referer", referer))
              .body(new byte[0])
              .send()
              .expect(status);
      assertThat(answer.member("reason")).isEqualTo(reason);
    }

    @Test
    void behind_a_proxy_a_form_comes_from_the_proxys_host() {
      assertThat(formFor("app.example", "https://app.example/y").member("reason"))
          .contains("boundary");
      assertThat(formFor("app.example", "http://host/y").member("reason"))
          .isEqualTo("Referer header must match host.");
    }

    private Answer formFor(String forwardedHost, String referer) {
      return server
          .request(
              "POST",
              "/w/a",
              "Content-Type",
              "multipart/form-data; boundary=x",
              "X-Forwarded-Host",
              forwardedHost,
              "Referer",
              referer)
          .body(new byte[0])
          .send();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/w/a", "/w/_local/a"})
    void documents_have_these_methods_only(String target) {
      assertThat(server.request("PATCH", target).send().header("allow"))
          .isEqualTo("DELETE,GET,HEAD,POST,PUT,COPY");
    }
  }

  /** Stored data that cannot be read: damaged, or of a newer version. */
  @Nested
  class UnreadableData {
    @RegisterExtension static final TestStores stores = new TestStores();

    private final Store store = stores.fresh();
    private final TestDatabase db = TestDatabase.create(store);
    @AutoClose private final LectusServer server = LectusServer.start(store);

    private Answer listWithRow(byte[] value) {
      byte[] key = db.read((tx, handle) -> new AllDocsSubspace(handle).key("a"));
      db.transactions.run(
          tx -> {
            tx.set(key, value);
            return null;
          });
      return server.get("/db/_all_docs");
    }

    @Test
    void a_newer_format_asks_for_a_newer_version() {
      Answer answer = listWithRow(new TupleWriter(8).integer(2).toBytes()).expect(500);
      assertThat(answer.member("reason"))
          .isEqualTo(
              "Stored data was written by a newer version of Lectus, which is needed to read it.");
    }

    @Test
    void damage_is_called_damage() {
      Answer answer = listWithRow(new byte[] {0x15, 1, 0x33}).expect(500);
      assertThat(answer.member("reason")).isEqualTo("Stored data is damaged; the log says where.");
    }
  }
}
