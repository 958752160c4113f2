package lectus.frozen;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Opens, reads, writes and checks a folder that {@link WriteStore} wrote. The folder never changes,
 * so this version must be able to do that with the store of every released version.
 */
final class StoresOfEarlierVersionsTest {
  @TempDir Path folder;

  @BeforeEach
  void only() {
    TestStores.onlyEmbedded();
  }

  @ParameterizedTest
  @ValueSource(strings = {"format-1", "format-2"})
  void clients_see_what_they_saw(String name) throws IOException {
    FrozenStore.unpack(name, folder);
    List<String> expected = Files.readAllLines(FrozenStore.ALL.resolve(name + ".txt"));
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        assertThat(StoreListing.of(server)).containsExactlyElementsOf(expected);
      }
      SoundStore.assertSound(store);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"format-1", "format-2"})
  void it_is_written_like_a_new_one(String name) throws IOException {
    FrozenStore.unpack(name, folder);
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        editAll(server);
      }
      SoundStore.assertSound(store);
    }
    try (Store store = EmbeddedStores.open(folder);
        LectusServer server = LectusServer.start(store)) {
      assertThat(server.get("/values/types").body()).contains("\"new\":true");
      assertThat(server.get("/values/gone").body()).contains("\"new\":true");
      assertThat(server.get("/conflicts/a").body()).contains("\"_rev\":\"5-");
      assertThat(server.get("/values/long").status()).isEqualTo(404);
    }
  }

  private static void editAll(LectusServer server) {
    edit(server, "/values/types");
    server.write("/conflicts/a", "{\"_rev\":\"3-c\",\"losing\":true}");
    edit(server, "/conflicts/a");
    edit(server, "/conflicts/c");
    edit(server, "/shards/first-3");
    edit(server, "/shards/second-2");
    edit(server, "/parts/p1:1");
    edit(server, "/local%2Fdb/_local/checkpoint");
    edit(server, "/again/b");
    server.write("/values/gone", "{\"new\":true}");
    assertThat(server.put("/former").status()).isEqualTo(201);
    server.write("/former/a", "{\"new\":true}");
    assertThat(server.delete("/values/long?rev=" + rev(server, "/values/long")).status())
        .isEqualTo(200);
    assertThat(server.put("/validated/more", "{}").status()).isNotEqualTo(201);
    assertThat(server.put("/shards/_changes/_meta", "{\"shards\":1}").status() / 100).isEqualTo(2);
    edit(server, "/shards/first-4");
    Answer branch =
        server.post(
            "/conflicts/_bulk_docs",
            "{\"new_edits\":false,\"docs\":[{\"_id\":\"d\",\"_rev\":\"3-g\","
                + "\"_revisions\":{\"start\":3,\"ids\":[\"g\",\"f\"]}}]}");
    assertThat(branch.status()).isEqualTo(201);
  }

  private static void edit(LectusServer server, String target) {
    server.write(target, "{\"_rev\":\"" + rev(server, target) + "\",\"new\":true}");
  }

  private static String rev(LectusServer server, String target) {
    return server.get(target).member("_rev");
  }
}
