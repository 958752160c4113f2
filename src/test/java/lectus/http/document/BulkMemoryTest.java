package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bulk requests whose documents take a multiple of their JSON in memory; 56 MB may be held. */
final class BulkMemoryTest {
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
            "The documents take more memory than a request may have, 58720256 bytes; send fewer at"
                + " a time.");
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
        .post("/w/_bulk_docs", "{\"docs\":[" + refused + "{\"_rev\":\"1-a\"}],\"new_edits\":false}")
        .expect(201);
    assertThat(server.get("/w").body()).contains("\"doc_count\":70001,");
  }
}
