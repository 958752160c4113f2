package lectus.http.document;

import static lectus.http.document.Conflicts.CONFLICT;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** PUT, POST and DELETE of documents. */
final class DocumentEditingTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
  }

  @Test
  void put_answers_the_new_revision() {
    Answer written = server.put("/w/a", "{\"v\":1}");
    String rev = written.member("rev");

    assertThat(written.status()).isEqualTo(201);
    assertThat(rev).matches("1-[0-9a-f]{32}");
    assertThat(written.body()).isEqualTo("{\"ok\":true,\"id\":\"a\",\"rev\":\"" + rev + "\"}\n");
    assertThat(written.header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(written.header("location")).isEqualTo("http://host/w/a");
    assertThat(server.get("/w/a").body())
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"" + rev + "\",\"v\":1}\n");
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

    assertThat(server.request("PUT", "/w/a").body(body).send().status()).isEqualTo(201);
    assertThat(
            server
                .request("PUT", "/w/b")
                .header("Content-Type", "text/plain")
                .header("X-Couch-Full-Commit", "true")
                .body(body)
                .send()
                .status())
        .isEqualTo(201);
  }

  @Test
  void the_path_counts_more_than_the_id_in_the_body() {
    assertThat(server.put("/w/a", "{\"_id\":\"b\"}").member("id")).isEqualTo("a");
    assertThat(server.get("/w/b").status()).isEqualTo(404);
  }

  @Test
  void the_base_may_come_in_the_body_the_query_or_the_header() {
    String one = server.write("/w/a", "{}");
    String two = server.write("/w/a", "{\"_rev\":\"" + one + "\"}");
    String three = server.write("/w/a?rev=" + two, "{}");
    Answer quoted =
        server.request("PUT", "/w/a").header("If-Match", "\"" + three + "\"").json("{}").send();
    Answer bare =
        server.request("PUT", "/w/a").header("If-Match", quoted.member("rev")).json("{}").send();

    assertThat(bare.status()).isEqualTo(201);
    assertThat(bare.member("rev")).startsWith("5-");
  }

  @Test
  void a_put_tombstone_is_200_and_a_new_document_goes_on_from_it() {
    String one = server.write("/w/a", "{}");
    Answer tombstone = server.put("/w/a", "{\"_rev\":\"" + one + "\",\"_deleted\":true}");

    assertThat(tombstone.status()).isEqualTo(200);
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
    Answer answer = server.request(method, target).json(json).send();

    assertThat(answer.status()).isEqualTo(status);
  }

  @Test
  void a_post_without_an_id_is_a_new_document_whatever_revision_it_names() {
    Answer posted = server.post("/w", "{\"_rev\":\"4-abc\",\"v\":1}");

    assertThat(posted.status()).isEqualTo(201);
    assertThat(posted.member("rev")).startsWith("1-");
  }

  @Test
  void members_of_couchdbs_replicator_come_back() {
    String notes =
        "\"_access\":[\"u\"],\"_replication_id\":\"i\",\"_replication_state\":\"s\","
            + "\"_replication_state_reason\":{\"a\":1},\"_replication_state_time\":\"t\","
            + "\"_replication_stats\":[1],\"b\":1}";
    String rev = server.write("/w/a", "{" + notes);

    assertThat(server.get("/w/a").body())
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"" + rev + "\"," + notes + "\n");
    assertThat(server.get("/w/a?fields=[\"_replication_state\"]").body())
        .contains("\"_replication_state\":\"s\"");
    assertThat(server.post("/w", "{\"_id\":\"p\"," + notes).status()).isEqualTo(201);
    assertThat(server.request("COPY", "/w/a").header("Destination", "c").send().status())
        .isEqualTo(201);
    assertThat(server.get("/w/c").body()).endsWith(notes + "\n");
  }

  @Test
  void batch_is_taken_without_a_revision() {
    Answer batch = server.put("/w/b?batch=ok", "{\"v\":1}");

    assertThat(batch.status()).isEqualTo(202);
    assertThat(batch.body()).isEqualTo("{\"ok\":true,\"id\":\"b\"}\n");
    assertThat(batch.headers()).doesNotContainKeys("etag", "location");
    assertThat(server.put("/w/b?rev=1-x", "{}").status()).as("queued behind it").isEqualTo(409);
    assertThat(server.get("/w/b").body()).contains("\"v\":1");
    Answer posted = server.post("/w?batch=ok", "{\"_id\":\"c\"}");
    assertThat(posted.status()).isEqualTo(202);
    assertThat(posted.body()).isEqualTo("{\"ok\":true,\"id\":\"c\"}\n");
  }

  @Test
  void a_replicated_revision_is_kept_as_it_came() {
    Answer written = server.put("/w/x6?new_edits=false", "{\"_rev\":\"3-abc\",\"v\":1}");

    assertThat(written.status()).isEqualTo(201);
    assertThat(written.body()).isEqualTo("{\"ok\":true,\"id\":\"x6\",\"rev\":\"3-abc\"}\n");
    Answer again = server.put("/w/x6?new_edits=false", "{\"_rev\":\"3-abc\",\"v\":1}");
    assertThat(again.status()).isEqualTo(201);
    assertThat(again.body()).isEqualTo(written.body());
    assertThat(server.get("/w/x6").body())
        .isEqualTo("{\"_id\":\"x6\",\"_rev\":\"3-abc\",\"v\":1}\n");
    assertThat(server.put("/w/x7?new_edits=false", "{}").status()).isEqualTo(400);
  }

  @Test
  void post_makes_an_id_where_there_is_none() {
    Answer named = server.post("/w", "{\"_id\":\"n\"}");
    Answer made = server.post("/w", "{\"v\":1}");

    assertThat(named.status()).isEqualTo(201);
    assertThat(named.member("id")).isEqualTo("n");
    assertThat(named.header("location")).isEqualTo("http://host/w/n");
    assertThat(named.headers()).doesNotContainKey("etag");
    assertThat(made.member("id")).matches("[0-9a-f]{32}");
    assertThat(made.header("location")).isEqualTo("http://host/w/" + made.member("id"));
    assertThat(server.post("/w", "{\"_id\":\"n\"}").body()).isEqualTo(CONFLICT);
  }

  @Test
  void delete_answers_the_tombstones_revision() {
    String one = server.write("/w/g", "{\"v\":1}");
    Answer deleted = server.delete("/w/g?rev=" + one);

    assertThat(deleted.status()).isEqualTo(200);
    String two = deleted.member("rev");
    assertThat(deleted.body()).isEqualTo("{\"ok\":true,\"id\":\"g\",\"rev\":\"" + two + "\"}\n");
    assertThat(deleted.header("etag")).isEqualTo("\"" + two + "\"");
    assertThat(server.get("/w/g?rev=" + two).body())
        .isEqualTo("{\"_id\":\"g\",\"_rev\":\"" + two + "\",\"_deleted\":true}\n");
  }

  @Test
  void delete_wants_the_live_revision() {
    String one = server.write("/w/g", "{}");

    assertThat(server.delete("/w/g").body()).isEqualTo(CONFLICT);
    assertThat(server.delete("/w/g?rev=1-a").body()).isEqualTo(CONFLICT);
    Answer matched = server.request("DELETE", "/w/g").header("If-Match", one).send();
    assertThat(matched.status()).isEqualTo(200);
  }

  @Test
  void deleting_what_is_not_there_is_404_whatever_the_rev() {
    String one = server.write("/w/g", "{}");
    String two = server.delete("/w/g?rev=" + one).member("rev");

    for (String query : new String[] {"", "?rev=" + one, "?rev=" + two, "?rev=x"}) {
      Answer again = server.delete("/w/g" + query);
      assertThat(again.status()).isEqualTo(404);
      assertThat(again.body()).isEqualTo("{\"error\":\"not_found\",\"reason\":\"deleted\"}\n");
      assertThat(server.delete("/w/never" + query).body())
          .isEqualTo("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    }
  }

  @Test
  void a_deletion_is_not_put_off_and_its_body_is_passed_over() {
    String one = server.write("/w/g", "{}");
    Answer deleted =
        server
            .request("DELETE", "/w/g?batch=ok&rev=" + one)
            .json("{\"_rev\":\"1-zzz\",\"_deleted\":false}")
            .send();

    assertThat(deleted.status()).isEqualTo(200);
    assertThat(deleted.member("rev")).startsWith("2-");
  }

  @Test
  void a_local_document_may_be_posted_and_takes_if_match() {
    Answer posted = server.post("/w", "{\"_id\":\"_local/p\",\"v\":1}");
    assertThat(posted.status()).isEqualTo(201);
    assertThat(posted.body()).isEqualTo("{\"ok\":true,\"id\":\"_local/p\",\"rev\":\"0-1\"}\n");

    Answer put =
        server.request("PUT", "/w/_local/p").header("If-Match", "\"0-1\"").json("{}").send();
    assertThat(put.member("rev")).isEqualTo("0-2");
    assertThat(put.header("location")).isEqualTo("http://host/w/_local%2Fp");
    assertThat(server.put("/w/_local/p?batch=ok", "{}").status()).isEqualTo(202);
    assertThat(server.put("/w/_local/p", "{\"_deleted\":true}").status()).isEqualTo(200);
    assertThat(server.get("/w/_local/p").status()).isEqualTo(404);
  }

  @Test
  void copy_makes_and_replaces() {
    server.write("/w/s", "{\"v\":1,\"o\":{\"a\":[1,2]}}");
    server.write("/w/empty", "{}");
    String target = server.write("/w/f", "{}");

    Answer made = server.request("COPY", "/w/s").header("Destination", "g%2Fh").send();
    assertThat(made.status()).isEqualTo(201);
    assertThat(made.member("id")).isEqualTo("g/h");
    assertThat(made.header("location")).isEqualTo("http://host/w/g%2Fh");
    assertThat(made.header("etag")).isEqualTo("\"" + made.member("rev") + "\"");
    assertThat(server.get("/w/g%2Fh").body()).endsWith("\"v\":1,\"o\":{\"a\":[1,2]}}\n");
    Answer over =
        server.request("COPY", "/w/empty").header("Destination", "f?rev=" + target).send();
    assertThat(over.member("rev")).startsWith("2-");
    assertThat(server.request("COPY", "/w/s").header("Destination", "f").send().body())
        .isEqualTo(CONFLICT);
  }

  @Test
  void local_documents_can_be_copied_and_copies() {
    server.write("/w/s", "{\"v\":1}");
    server.write("/w/_local/l", "{\"v\":2}");

    Answer local = server.request("COPY", "/w/s").header("Destination", "_local/t?rev=0-3").send();
    assertThat(local.status()).isEqualTo(201);
    assertThat(local.body()).isEqualTo("{\"ok\":true,\"id\":\"_local/t\",\"rev\":\"0-4\"}\n");
    assertThat(server.get("/w/_local/t").body())
        .isEqualTo("{\"_id\":\"_local/t\",\"_rev\":\"0-4\",\"v\":1}\n");

    assertThat(
            server.request("COPY", "/w/_local/l").header("Destination", "d").send().member("rev"))
        .startsWith("1-");
    assertThat(server.get("/w/d").body()).contains("\"v\":2");
    assertThat(server.request("COPY", "/w/_local/none").header("Destination", "d").send().status())
        .isEqualTo(404);
    assertThat(
            server
                .request("COPY", "/w/_local/l?rev=0-1")
                .header("Destination", "e")
                .send()
                .status())
        .as("it has no revisions to choose from")
        .isEqualTo(404);
  }

  @Test
  void a_tombstone_is_copied_as_one() {
    String one = server.write("/w/s", "{}");
    String two = server.delete("/w/s?rev=" + one).member("rev");

    Answer copy = server.request("COPY", "/w/s?rev=" + two).header("Destination", "t").send();
    assertThat(copy.status()).isEqualTo(201);
    assertThat(server.get("/w/t").member("reason")).isEqualTo("deleted");
    assertThat(server.request("COPY", "/w/s").header("Destination", "t").send().status())
        .isEqualTo(404);
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

    Answer copy = server.request("COPY", "/w/s").header("Destination", destination).send();
    assertThat(copy.status()).isEqualTo(status);
    assertThat(copy.member(status == 201 ? "id" : "error")).isEqualTo(idOrError);
    Answer late =
        server.request("COPY", "/w/s?batch=ok").header("Destination", "late" + status).send();
    assertThat(late.status()).as("copies are not put off").isEqualTo(201);
  }

  @Test
  void copy_wants_a_source_and_a_relative_destination() {
    server.write("/w/s", "{}");

    assertThat(server.request("COPY", "/w/s").send().member("reason"))
        .isEqualTo("Destination header is mandatory for COPY.");
    assertThat(
            server
                .request("COPY", "/w/s")
                .header("Destination", "http://host/w/x")
                .send()
                .member("reason"))
        .isEqualTo("Destination URL must be relative.");
    assertThat(server.request("COPY", "/w/none").header("Destination", "x").send().status())
        .isEqualTo(404);
    assertThat(server.request("COPY", "/w/s").header("Destination", "_x").send().status())
        .isEqualTo(400);
  }
}
