package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Attachments of documents, none of which has any. */
final class AttachmentResourceTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
    server.put("/w/a?new_edits=false", "{\"_rev\":\"1-a\"}");
    server.put("/w/gone?new_edits=false", "{\"_rev\":\"1-a\",\"_deleted\":true}");
    server.put("/w/_design/d", "{}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /w/a/f              | 404 | not_found   | Document is missing attachment
          /w/a/f/g            | 404 | not_found   | Document is missing attachment
          /w/a/f?rev=1-a      | 404 | not_found   | Document is missing attachment
          /w/a/f?rev=x        | 400 | bad_request | Invalid rev format
          /w/none/f           | 404 | not_found   | missing
          /w/gone/f           | 404 | not_found   | deleted
          /w/_design/d/f      | 404 | not_found   | Document is missing attachment
          /w/_design/d/nope   | 404 | not_found   | Document is missing attachment
          /w/_design%2Fd/f    | 404 | not_found   | Document is missing attachment
          /w/_design/none/f   | 404 | not_found   | missing
          /nodb/a/f           | 404 | not_found   | Database does not exist.
          """)
  void there_is_none(String target, int status, String error, String reason) {
    for (String method : new String[] {"GET", "DELETE"}) {
      server
          .request(method, target)
          .send()
          .expect(status, "{\"error\":\"" + error + "\",\"reason\":\"" + reason + "\"}\n");
    }
    server.head(target).expect(status);
  }

  @Test
  void a_revision_that_is_unknown_has_none_and_deletes_none() {
    server.get("/w/a/f?rev=9-a").expect(404);
    server.head("/w/a/f?rev=9-a").expect(404);
    for (String method : List.of("PUT", "DELETE")) {
      for (String target : List.of("/w/a/f", "/w/none/f")) {
        server
            .request(method, target + "?rev=9-a")
            .send()
            .expect(409, "{\"error\":\"not_found\",\"reason\":\"missing_rev\"}\n");
      }
    }
  }

  @Test
  void at_a_revision_that_was_replaced_or_is_deleted_nothing_is_edited() {
    String replaced = server.put("/w/r", "{}").member("rev");
    String deleted = server.request("DELETE", "/w/r?rev=" + replaced).send().member("rev");

    for (String method : List.of("PUT", "DELETE")) {
      Answer edited = server.request(method, "/w/r/f?rev=" + replaced).send().expect(409);
      assertThat(edited.member("reason")).isEqualTo("Document update conflict.");
    }
    server.request("PUT", "/w/r/f?rev=" + deleted).send().expect(409);
  }

  @Test
  void other_methods_are_refused() {
    Answer posted = server.post("/w/a/f", "{}").expect(405);
    assertThat(posted.header("allow")).isEqualTo("DELETE,GET,HEAD,PUT");
  }

  @ParameterizedTest
  @CsvSource({"_show/s", "_list/l/v", "_rewrite/r", "_search/s"})
  void what_design_documents_do_is_absent(String path) {
    Answer answer = server.get("/w/_design/d/" + path).expect(501);
    assertThat(answer.member("reason"))
        .startsWith(
            "/{db}/_design/{name}/"
                + path.replaceFirst("/.*", "")
                + " is a part of CouchDB that Lectus does not have");
  }
}
