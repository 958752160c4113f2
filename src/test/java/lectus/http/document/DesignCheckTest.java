package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Functions that do not compile. */
final class DesignCheckTest {
  private static final String BROKEN =
      "\"views\":{\"v\":{\"map\":\"function(doc) {\\n  emit(;\\n}\"}}";

  private static final String REASON =
      "Compilation of the map function in the 'v' view failed: SyntaxError: ";

  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
  }

  @Test
  void a_client_is_told_line_and_column() {
    Answer answer = server.put("/w/_design/d", "{" + BROKEN + "}");
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.body())
        .startsWith("{\"error\":\"compilation_error\",\"reason\":\"" + REASON)
        .contains("(line 2, column 8)");
    assertThat(server.get("/w/_design/d").status()).isEqualTo(404);
    assertThat(server.put("/w/_design/d", "{" + BROKEN.replace("(;", "(1);") + "}").status())
        .isEqualTo(201);
  }

  @Test
  void the_server_says_which_engine_it_has() {
    assertThat(server.get("/_node/_local/_versions").body())
        .containsPattern("\"javascript_engine\":\\{\"name\":\"v8\",\"version\":\"[0-9.]+\"}");
  }

  @Test
  void the_others_of_a_request_are_stored() {
    Answer answer =
        server.post(
            "/w/_bulk_docs",
            "{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"b\",\"_rev\":\"1-a\"},{\"_id\":\"_design/d\","
                + BROKEN
                + "},{\"_id\":\"c\",\"_rev\":\"1-a\"},{\"_id\":\"_design/e\"},{\"_id\":\"f\"}]}");
    assertThat(answer.body())
        .containsSubsequence(
            "\"id\":\"a\",\"rev\"",
            "\"id\":\"b\",\"error\":\"conflict\"",
            "\"id\":\"_design/d\",\"error\":\"compilation_error\",\"reason\":\"" + REASON,
            "\"id\":\"c\",\"error\":\"conflict\"",
            "\"id\":\"_design/e\",\"rev\"",
            "\"id\":\"f\",\"rev\"");
    assertThat(server.get("/w/_design/d").status()).isEqualTo(404);
  }

  @Test
  void an_atomic_request_stores_nothing() {
    Answer answer =
        server.post(
            "/w/_bulk_docs",
            "{\"atomic\":true,\"docs\":[{\"_id\":\"a\"},{\"_id\":\"_design/d\"," + BROKEN + "}]}");
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.body()).startsWith("{\"error\":\"compilation_error\"");
    assertThat(server.get("/w/a").status()).isEqualTo(404);
  }

  @Test
  void what_a_replicator_brings_and_what_is_deleted_is_stored() {
    assertThat(
            server
                .post(
                    "/w/_bulk_docs",
                    "{\"new_edits\":false,\"docs\":[{\"_id\":\"_design/d\",\"_rev\":\"1-a\","
                        + BROKEN
                        + "}]}")
                .body())
        .isEqualTo("[]\n");
    assertThat(server.get("/w/_design/d").status()).isEqualTo(200);
    assertThat(
            server
                .put("/w/_design/d", "{\"_rev\":\"1-a\",\"_deleted\":true," + BROKEN + "}")
                .status())
        .isEqualTo(200);
  }
}
