package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A server for a class, with a fresh database {@code w} for each test, from which tests purge. */
final class PurgedDatabase implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  private final TestStores stores;
  private LectusServer server;

  PurgedDatabase(TestStores stores) {
    this.stores = stores;
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    server = LectusServer.start(stores.fresh());
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    server.delete("/w");
    server.put("/w");
  }

  @Override
  public void afterAll(ExtensionContext context) {
    server.close();
  }

  LectusServer server() {
    return server;
  }

  /** Purges a leaf that is there. */
  Answer purge(String id, String revision) {
    Answer answer = server.post("/w/_purge", "{\"" + id + "\":[\"" + revision + "\"]}");
    assertThat(answer.body()).contains("\"" + id + "\":[\"" + revision + "\"]");
    return answer;
  }
}
