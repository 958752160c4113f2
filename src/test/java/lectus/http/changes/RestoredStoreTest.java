package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whoever comes with a position of before gets all that was written after a copy of the data folder
 * was put back, or into a new store.
 */
final class RestoredStoreTest {
  @TempDir private Path temporary;
  private Path original;
  private Path copy;
  private String inDatabase;
  private String inStore;
  private String ofSocket;

  @BeforeEach
  void embedded() {
    TestStores.onlyEmbedded();
    original = temporary.resolve("original");
    copy = temporary.resolve("copy");
  }

  @Test
  void what_is_written_after_a_restore_is_shown() throws IOException {
    inStore(original, server -> write(server, "a"));
    copyFolder();
    inStore(original, server -> write(server, "b", "c", "d"));

    assertLaterWritesAreShown(copy);
  }

  @Test
  void what_is_written_into_a_new_store_is_shown() throws IOException {
    inStore(original, server -> write(server, "a", "b", "c"));

    assertLaterWritesAreShown(copy);
  }

  private void assertLaterWritesAreShown(Path folder) throws IOException {
    inStore(
        folder,
        server -> {
          try (Connection live = continuous(server);
              Conversation client = subscribed(server)) {
            server.write("/w/z", "{}");
            assertThat(live.chunkText()).contains("\"id\":\"z\"");
            client.row("many", "z");
          }
          String since = "?since=" + inDatabase;
          assertShowsOnlyLater(server.get("/w/_changes" + since));
          assertShowsOnlyLater(server.get("/w/_changes" + since + "&feed=longpoll"));
          assertThat(server.get("/_db_updates?since=" + inStore).body()).contains("\"w\"");
        });
  }

  private Connection continuous(LectusServer server) {
    Connection live =
        server.request("GET", "/w/_changes?feed=continuous&since=" + inDatabase).open();
    live.readHead().expect(200);
    return live;
  }

  private Conversation subscribed(LectusServer server) {
    Conversation client = Conversation.with(server);
    client.subscribe("many", "'db':'w*','since':'" + ofSocket + "'");
    client.caughtUp("many");
    return client;
  }

  private static void assertShowsOnlyLater(Answer answer) {
    answer.expect(200);
    assertThat(answer.body()).contains("\"id\":\"z\"").doesNotContain("\"id\":\"a\"");
  }

  private void write(LectusServer server, String... ids) {
    List.of(ids).forEach(id -> server.write("/w/" + id, "{}"));
    inDatabase = server.get("/w").member("update_seq");
    inStore = server.get("/_db_updates").member("last_seq");
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("a", "'db':'w*','since':'now'");
      ofSocket = client.caughtUp("a");
    }
  }

  private interface Use {
    void of(LectusServer server);
  }

  private static void inStore(Path folder, Use use) throws IOException {
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        server.request("PUT", "/w").send();
        use.of(server);
      }
      SoundStore.assertSound(store);
    }
  }

  private void copyFolder() throws IOException {
    try (Stream<Path> files = Files.walk(original)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(original.relativize(file)));
      }
    }
  }
}
