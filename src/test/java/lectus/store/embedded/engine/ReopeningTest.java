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
import lectus.store.embedded.engine.OpenStore.StoppedStore;
import lectus.store.embedded.engine.folder.DataFolder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

/** A process that reopens its store finds the same store, or says why not. */
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
  void a_store_that_is_there_is_taken_again() {
    try (DataFolder again = DataFolder.takeAgain(folder)) {
      assertThat(again.isNew()).isFalse();
    }
  }

  /** As when a disk is no longer mounted: the folder exists and is empty. */
  @Test
  void none_is_made_in_place_of_one_that_is_gone() throws Exception {
    Folders.delete(folder);
    Files.createDirectory(folder);

    assertThatThrownBy(() -> DataFolder.takeAgain(folder))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("is gone");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void a_process_without_descriptors_says_nothing_about_damage() {
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
  void the_timer_outlives_a_tick_that_fails() {
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
        RocksEngine.open(
            folder, EngineOptions.defaults().with(TestOptions.threads(executor, hand)))) {
      for (int i = 1; i < TICKS_OF_A_MINUTE; i++) {
        hand.tick();
      }
      lacksMemory.set(true);
      // It requests a thread once a minute.
      hand.tick();
      lacksMemory.set(false);

      commit().set("k", "v").on(engine);
      assertThat(get(engine, "k")).isEqualTo("v");
    }
  }
}
