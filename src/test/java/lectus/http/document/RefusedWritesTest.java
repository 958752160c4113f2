package lectus.http.document;

import static lectus.http.document.Conflicts.CONFLICT;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lectus.config.ProxyKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Base revisions, bodies, ids, forms and methods with which no document is written. */
final class RefusedWritesTest {
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

    for (String target : new String[] {"/w/a", "/w/a?rev=" + one, "/w/a?rev=9-a", "/w/n?rev=1-a"}) {
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
        "/w/a         |                | application/json         | 400 | Referer header required.",
        "/w/_design/x |                | application/json         | 400 | Referer header required.",
        "/w/_local/x  |                | application/json         | 400 | Referer header required.",
        "/w/a         | http://other/  | application/json         | 400 | Referer header must match"
            + " host.",
        "/w/a         | http://[       | application/json         | 400 | Referer header must match"
            + " host.",
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
