package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A server with a fresh database, {@code w}, from which tests purge. */
abstract class WithPurges {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  static LectusServer server;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void create() {
    server.delete("/w");
    server.put("/w");
  }

  /** Purges a leaf that is there. */
  static Answer purge(String id, String revision) {
    Answer answer = server.post("/w/_purge", "{\"" + id + "\":[\"" + revision + "\"]}");
    assertThat(answer.body()).contains("\"" + id + "\":[\"" + revision + "\"]");
    return answer;
  }
}
