package lectus.abuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;

/** Checks the store of a server that has ended, with the auditor and a fresh server. */
final class Aftermath {
  private Aftermath() {}

  /**
   * @param documents those that were acknowledged, as paths
   */
  static void assertSoundWith(Path data, Collection<String> documents) {
    try (Store store = EmbeddedStores.open(data)) {
      SoundStore.assertSound(store);
      try (LectusServer again = LectusServer.start(store)) {
        Set<String> missing = new TreeSet<>(documents);
        missing.removeIf(path -> again.get(path).status() == 200);
        assertThat(missing).isEmpty();
      }
    }
  }
}
