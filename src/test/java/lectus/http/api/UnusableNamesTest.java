package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names that nothing can have: reserved ones, and those that are not UTF-8. */
final class UnusableNamesTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
    server.put("/w/_local/x", "{}");
    server.put("/w/%EF%BF%BD", "{}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          GET    | /%FF            | 404 | not_found     | Database does not exist.
          DELETE | /%FF            | 404 | not_found     | Database does not exist.
          GET    | /w%FF/a         | 404 | not_found     | Database does not exist.
          GET    | /w/%FF          | 404 | not_found     | missing
          GET    | /w/a%C0%80      | 404 | not_found     | missing
          GET    | /w/%ED%A0%80    | 404 | not_found     | missing
          DELETE | /w/%FF          | 404 | not_found     | missing
          PUT    | /w/%FF          | 400 | illegal_docid | Document id must be valid UTF-8
          PUT    | /w/_local/%FF   | 400 | illegal_docid | Document id must be valid UTF-8
          PUT    | /w/_design/%FF  | 400 | illegal_docid | Document id must be valid UTF-8
          PUT    | /w/%FF/a        | 400 | illegal_docid | Document id must be valid UTF-8
          DELETE | /w/%FF/a        | 404 | not_found     | missing
          PUT    | /w/_design/%FF/a| 400 | illegal_docid | Document id must be valid UTF-8
          PUT    | /w/a/%FF        | 400 | bad_request   | Attachment name is not UTF-8 encoded
          DELETE | /w/a/%FF        | 400 | bad_request   | Attachment name is not UTF-8 encoded
          PUT    | /w/a/b/%FF      | 400 | bad_request   | Attachment name is not UTF-8 encoded
          PUT    | /w/%FF/%FF      | 400 | bad_request   | Attachment name is not UTF-8 encoded
          PUT    | /w/_design/x/%FF| 400 | bad_request   | Attachment name is not UTF-8 encoded
          GET    | /w/a/%FF        | 404 | not_found     | missing
          PUT    | /w/_local/x/%FF | 400 | bad_request   | _local documents do not accept attachments.
          DELETE | /w/_local/x/%FF | 400 | bad_request   | _local documents do not accept attachments.
          PUT    | /nodb/a/%FF     | 404 | not_found     | Database does not exist.
          GET    | /w/_local%2F    | 400 | bad_request   | Invalid _local document id.
          PUT    | /w/_local%2F    | 400 | bad_request   | Invalid _local document id.
          GET    | /w/_local       | 400 | bad_request   | Invalid _local document id.
          GET    | /w/_local%2Fx/y | 404 | not_found     | missing
          PUT    | /w/_local%2Fx/y | 400 | bad_request   | _local documents do not accept attachments.
          GET    | /w/_nope        | 404 | not_found     | missing
          GET    | /w/_nope/x      | 404 | not_found     | missing
          GET    | /w/_nope/x/y    | 404 | not_found     | missing
          DELETE | /w/_nope/x      | 404 | not_found     | missing
          GET    | /w/_security/x  | 404 | not_found     | missing
          GET    | /w/_all_docs/x  | 404 | not_found     | missing
          GET    | /w/a?x=%FF      | 404 | not_found     | missing
          GET    | /w/a?rev=%FF    | 400 | bad_request   | The URL is not UTF-8.
          GET    | /nodb/_nope/x   | 404 | not_found     | Database does not exist.
          PUT    | /nodb/_nope/x   | 404 | not_found     | Database does not exist.
          """)
  void nothing_has_them(String method, String target, int status, String error, String reason) {
    Request request = server.request(method, target);
    Answer answer = method.equals("PUT") ? request.json("{}").send() : request.send();

    answer.expect(status, "{\"error\":\"" + error + "\",\"reason\":\"" + reason + "\"}\n");
  }

  @Test
  void a_head_finds_none_either() {
    Answer answer = server.head("/w/_nope/x").expect(404);
    assertThat(answer.body()).isEmpty();
  }

  @Test
  void reserved_names_are_not_written() {
    String reason = "Only reserved document ids may start with underscore.";
    assertThat(server.put("/w/_nope/x", "{}").member("reason")).isEqualTo(reason);
    assertThat(server.put("/w/_nope", "{}").member("reason")).isEqualTo(reason);
    assertThat(server.post("/w/_nope/x", "{}").header("allow")).isEqualTo("DELETE,GET,HEAD,PUT");
  }

  @Test
  void a_database_cannot_be_called_so() {
    Answer answer = server.put("/%FF").expect(400);
    assertThat(answer.member("error")).isEqualTo("illegal_database_name");
    assertThat(answer.member("reason")).startsWith("Name: '\ufffd'.");
  }

  /** Bytes that are not UTF-8 do not refer to the document that is called U+FFFD. */
  @Test
  void what_takes_the_place_of_bad_bytes_is_a_name_of_its_own() {
    server.get("/w/%EF%BF%BD").expect(200);
    server.get("/w/%FF").expect(404);
  }
}
