package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * An image with an increment that was saved by the first version that had images. Every later
 * version restores it, and answers what that version did.
 */
final class SavedImageTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();

  private static byte[] saved(String name) throws IOException {
    try (InputStream file = SavedImageTest.class.getResourceAsStream("/images/" + name)) {
      return file.readAllBytes();
    }
  }

  @Test
  void a_saved_image_is_restored_with_all_it_had() throws IOException {
    try (LectusServer server = LectusServer.start(store)) {
      Answer restored = server.request("POST", "/old/_image").body(saved("first.image")).send();
      assertThat(restored.status()).as(restored.body()).isEqualTo(201);
      List<String> answers =
          new String(saved("first.answers"), StandardCharsets.UTF_8).lines().toList();
      for (String line : answers) {
        String[] parts = line.split(" ", 2);
        Answer answer =
            server.request("GET", "/old" + parts[0], "Accept", "application/json").send();
        assertThat(answer.status()).as(parts[0]).isEqualTo(200);
        assertThat(answer.body().replaceAll("[\r\n]", "")).as(parts[0]).isEqualTo(parts[1]);
      }
    }
  }
}
