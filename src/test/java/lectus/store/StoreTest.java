package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import lectus.error.StoreOpenException;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class StoreTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  @TempDir private Path folder;

  @Test
  void aStoreKeepsItsIdAndItsPlace() {
    TestStores.onlyEmbedded();
    String id;
    byte[] prefix;
    try (Store store = EmbeddedStores.open(folder)) {
      id = store.id();
      prefix = store.rootPrefix();
    }
    assertThat(id).matches("[0-9a-f]{32}");
    try (Store again = EmbeddedStores.open(folder)) {
      assertThat(again.id()).isEqualTo(id);
      assertThat(again.rootPrefix()).isEqualTo(prefix).isNotEmpty();
      assertThat(again.mayAnswerUnknownResult()).isFalse();
    }
  }

  @Test
  void aDirectoryIsAStoreOfItsOwn() {
    Store store = stores.fresh();
    Store other = stores.fresh();
    assertThat(store.id()).isNotEqualTo(other.id());
    assertThat(store.rootPrefix()).isNotEqualTo(other.rootPrefix());
    Store same = store.inDirectory(store.directory().getPath());
    assertThat(same.id()).isEqualTo(store.id());
    assertThat(same.rootPrefix()).isEqualTo(store.rootPrefix());
    same.close();
  }

  @Test
  void aFolderOfSomethingElseIsLeftAlone() throws Exception {
    TestStores.onlyEmbedded();
    Path file = folder.resolve("letter.txt");
    Files.writeString(file, "Dear reader");
    assertThatThrownBy(() -> EmbeddedStores.open(folder))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageEndingWith(".");
    assertThat(folder).isDirectoryContaining(file::equals);
    try (var entries = Files.list(folder)) {
      assertThat(entries).hasSize(1);
    }
  }

  @Test
  void aFolderInUseIsRefused() {
    TestStores.onlyEmbedded();
    try (Store store = EmbeddedStores.open(folder)) {
      assertThatThrownBy(() -> EmbeddedStores.open(folder)).isInstanceOf(StoreOpenException.class);
      assertThat(store.id()).isNotEmpty();
    }
  }
}
