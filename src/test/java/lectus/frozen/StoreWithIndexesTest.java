package lectus.frozen;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A folder by the last version without jobs: the index of one database is built, that of another
 * one for 64 of 210 documents, that of a third one not at all, and there is the task of a database
 * that was deleted. {@code d0}, {@code d1}… have {@code a}, their number modulo 7.
 */
final class StoreWithIndexesTest {
  @TempDir Path folder;

  @BeforeEach
  void unpack() throws IOException {
    TestStores.onlyEmbedded();
    FrozenStore.unpack("indexes", folder);
  }

  @Test
  void it_is_what_it_says() {
    try (Store store = EmbeddedStores.open(folder)) {
      assertThat(rowsOfRoot(store, RootSubspace.INDEX_TASKS)).isEqualTo(3);
      for (String name : List.of("built", "underway", "waiting")) {
        assertThat(saysThatItHasIndexes(store, name)).isFalse();
      }
      SoundStore.assertSound(store);
    }
  }

  @Test
  void jobs_build_what_the_earlier_version_had_begun() {
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        assertThat(rowsOfRoot(store, RootSubspace.INDEX_TASKS)).isZero();
        for (String name : List.of("built", "underway", "waiting")) {
          assertThat(saysThatItHasIndexes(store, name)).isTrue();
          server.write("/" + name + "/new", "{\"a\":3}");
          Await.until(
              "the index of " + name + " is built",
              () -> !server.get("/" + name + "/_index").body().contains("\"building\""));
        }
        assertThat(found(server, "built")).isEqualTo(2);
        assertThat(found(server, "underway")).isEqualTo(31);
        assertThat(found(server, "waiting")).isEqualTo(31);
      }
      assertThat(rowsOfRoot(store, RootSubspace.JOBS)).isZero();
      SoundStore.assertSound(store);
    }
  }

  private static int found(LectusServer server, String name) {
    String body =
        server
            .post(
                "/" + name + "/_find",
                "{\"selector\":{\"a\":3},\"fields\":[\"a\"],\"limit\":100,\"use_index\":\"i\"}")
            .body();
    assertThat(body).doesNotContain("warning");
    return body.split("\"a\":3", -1).length - 1;
  }

  private static int rowsOfRoot(Store store, RootSubspace subspace) {
    TestDatabase db = TestDatabase.open(store, "built");
    return db.transactions.<Integer>read(
        tx -> tx.getRange(subspace.range(store.rootPrefix())).asList().join().size());
  }

  private static boolean saysThatItHasIndexes(Store store, String name) {
    TestDatabase db = TestDatabase.open(store, name);
    byte[] prefix = db.catalogue.open(DatabaseName.of(name)).prefix();
    byte[] key = DatabaseSubspace.CONFIG.key(prefix).string("indexes").toBytes();
    return db.transactions.<Boolean>read(tx -> tx.get(key).join() != null);
  }
}
