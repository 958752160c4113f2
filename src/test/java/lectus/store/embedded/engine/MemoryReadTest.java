package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import lectus.error.NotInMemoryException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory-only reads: data in memory is returned, anything else is refused. */
class MemoryReadTest {
  @TempDir Path folder;

  @Test
  void what_was_just_written_is_in_memory() {
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults())) {
      Commits.commit().set("k", "1").on(engine);
      try (StoreSnapshot then = engine.latest()) {
        Commits.commit().set("k", "2").on(engine);
        assertThat(text(then.getFromMemory(bytes("k")))).isEqualTo("1");
        try (StoreSnapshot now = engine.latest()) {
          assertThat(text(now.getFromMemory(bytes("k")))).isEqualTo("2");
        }
      }
    }
  }

  /** After a restart, only what opening needs has been read of the files. */
  @Test
  void what_is_on_disk_is_refused_until_somebody_has_read_it() {
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults())) {
      Commits many = Commits.commit();
      for (int i = 0; i < 1_000; i++) {
        many.set("k" + i, "v".repeat(1_000));
      }
      many.on(engine);
    }
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults());
        StoreSnapshot snapshot = engine.latest()) {
      assertThatThrownBy(() -> snapshot.getFromMemory(bytes("k500")))
          .isInstanceOf(NotInMemoryException.class);
      assertThat(snapshot.get(bytes("k500"))).hasSize(1_000);
      assertThat(snapshot.getFromMemory(bytes("k500"))).hasSize(1_000);
    }
  }

  @Test
  void a_closed_snapshot_has_nothing_in_memory_either() {
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults())) {
      StoreSnapshot snapshot = engine.latest();
      snapshot.close();
      assertThatThrownBy(() -> snapshot.getFromMemory(bytes("k")))
          .hasMessageContaining("cancelled");
    }
  }
}
