package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.error.StoreOpenException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

/** A process that opens its store again finds that store, or says why not. */
class ReopeningTest {
  private static final int TICKS_OF_A_MINUTE = 600;

  @TempDir Path temporary;
  private Path folder;

  @BeforeEach
  void makeStore() {
    folder = temporary.resolve("store");
    RocksEngine.open(folder, EngineOptions.defaults()).close();
  }

  @Test
  void aStoreThatIsThereIsTakenAgain() {
    try (DataFolder again = DataFolder.takeAgain(folder)) {
      assertThat(again.isNew()).isFalse();
    }
  }

  /** As where a disk is no longer mounted: the folder is there and empty. */
  @Test
  void noneIsMadeInPlaceOfOneThatIsGone() throws Exception {
    Folders.delete(folder);
    Files.createDirectory(folder);

    assertThatThrownBy(() -> DataFolder.takeAgain(folder))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("is gone");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aProcessWithoutDescriptorsSaysNothingAboutDamage() {
    try (DataFolder look = DataFolder.look(folder)) {
      StoreOpenException lacking =
          StoppedStore.refused(
              look, new RocksDBException("While open a file: 7.sst: Too many open files"));
      assertThat(lacking.isDamage()).isFalse();
      assertThat(lacking).hasMessageContaining("too many files and sockets open");

      StoreOpenException broken =
          StoppedStore.refused(look, new RocksDBException("Corruption: bad block"));
      assertThat(broken.isDamage()).isTrue();
    }
  }

  @Test
  void theTimerOutlivesATickThatFails() {
    TurnedByHand hand = new TurnedByHand();
    AtomicBoolean lacksMemory = new AtomicBoolean();
    Executor executor =
        task -> {
          if (lacksMemory.get()) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          task.run();
        };
    try (RocksEngine engine =
        RocksEngine.open(folder, EngineOptions.defaults().withThreads(executor, hand))) {
      for (int i = 1; i < TICKS_OF_A_MINUTE; i++) {
        hand.tick();
      }
      lacksMemory.set(true);
      // It asks for a thread once a minute.
      hand.tick();
      lacksMemory.set(false);

      commit().set("k", "v").on(engine);
      assertThat(get(engine, "k")).isEqualTo("v");
    }
  }
}
