package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers that change the meaning of a request. */
final class RequestHeadersTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
    server.write("/w/a", "{\"v\":1}");
  }

  private Request overridden(String method, String override, String target) {
    return server.request(method, target, "X-HTTP-Method-Override", override);
  }

  @ParameterizedTest
  @CsvSource({
    "POST,GET,/w/a,200",
    "POST,PUT,/w/b,201",
    "POST,COPY,/w/a,201",
    "POST,DELETE,/w,200",
    "POST,TRACE,/w/a,405",
    "POST,CONNECT,/w/a,405",
    "POST,POST,/w,201",
    "POST,get,/w,201",
    "POST,PATCH,/w,201",
    "GET,DELETE,/w/a,200",
    "PUT,GET,/w/c,201"
  })
  void another_method_counts_beside_a_post(
      String method, String override, String target, int status) {
    overridden(method, override, target)
        .header("Destination", "copy")
        .json("{}")
        .send()
        .expect(status);
    server
        .get("/w")
        .expect(override.equals("DELETE") && status == 200 && method.equals("POST") ? 404 : 200);
  }

  /** For the client's library, the answer to a POST ends where Content-Length says. */
  @Test
  void head_beside_a_post_has_a_body() {
    overridden("POST", "HEAD", "/w/a")
        .body(new byte[0])
        .send()
        .expect(200, server.get("/w/a").body());
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "Req-7_x", "0f9b3c1e-6f1d-4b53-8b0a-0f3a5a3d2c11"})
  void a_clients_request_id_comes_back(String id) {
    for (String target : new String[] {"/_up", "/w/a", "/nodb", "/w/_all_docs", "/%"}) {
      Answer answer = server.request("GET", target, "X-Couch-Request-ID", id).send();
      assertThat(answer.header("x-couch-request-id")).isEqualTo(id);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a b",
        "a\tb",
        "a=b",
        "a;b",
        "ü",
        "a\"",
        "id status=200",
        "0f9b3c1e-6f1d-4b53-8b0a-0f3a5a3d2c112"
      })
  void a_request_id_that_is_too_long_or_could_mislead_is_replaced(String id) {
    Answer answer = server.request("GET", "/_up", "X-Couch-Request-ID", id).send().expect(200);
    assertThat(answer.header("x-couch-request-id")).matches("[0-9a-f]{10}");
  }
}
