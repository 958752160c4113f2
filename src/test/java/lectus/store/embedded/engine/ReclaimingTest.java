package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import lectus.metrics.Tasks.TaskState;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import lectus.store.testing.Await;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Cleared data soon leaves the disk, and nothing else disappears or reappears. */
class ReclaimingTest {
  private static final int ROWS = 3_000;
  private static final int VALUE_BYTES = 10_000;
  private static final int ROWS_PER_COMMIT = 100;

  @TempDir Path folder;
  private final Random random = new Random(7);
  @AutoClose private RocksEngine engine;

  @BeforeEach
  void open() {
    EngineOptions options = EngineOptions.defaults().withMemory(8 << 20, 2 << 20);
    engine = RocksEngine.open(folder, options);
    Commits.commit().set("a", "before").set("z", "behind").on(engine);
    // Twice, so that lower levels hold rows that upper ones replaced.
    fill();
    fill();
  }

  @Test
  void space_of_cleared_range_comes_back() {
    assertThat(bytesOnDisk()).isGreaterThan((long) ROWS * VALUE_BYTES);

    Commits.commit().clear("k", "l").on(engine);

    Await.until("the space is there", () -> bytesOnDisk() < ROWS * VALUE_BYTES / 4);
    assertThat(rows()).containsExactly("a=before", "z=behind");
    engine.close();
    engine = RocksEngine.open(folder, EngineOptions.defaults());
    assertThat(rows()).containsExactly("a=before", "z=behind");
  }

  @Test
  void what_is_written_behind_the_clear_stays() {
    Commits.commit().clear("k", "l").on(engine);
    Commits.commit().set("k00000017", "new").on(engine);

    Await.until("the space is there", () -> bytesOnDisk() < ROWS * VALUE_BYTES / 4);
    assertThat(rows()).containsExactly("a=before", "k00000017=new", "z=behind");
  }

  @Test
  void it_is_a_task_while_readers_hold_it_up() {
    try (StoreSnapshot before = engine.latest()) {
      Commits.commit().clear("k", "l").on(engine);

      Await.until("it runs", () -> !engine.tasks().running().isEmpty());
      TaskState task = engine.tasks().running().get(0);
      assertThat(task.type()).isEqualTo("space_reclaiming");
      assertThat(task.total().orElseThrow()).isGreaterThan(Reclaiming.LARGE_BYTES);
    }
    Await.until("it is over", () -> engine.tasks().running().isEmpty());
  }

  @Test
  void snapshot_from_before_sees_everything() {
    try (StoreSnapshot before = engine.latest()) {
      Commits.commit().clear("k", "l").on(engine);
      int seen = 0;
      try (Cursor cursor = before.scan(Commits.bytes("k"), Commits.bytes("l"), false)) {
        while (cursor.next()) {
          assertThat(cursor.value()).hasSize(VALUE_BYTES);
          seen++;
        }
      }
      assertThat(seen).isEqualTo(ROWS);
    }
  }

  @Test
  void closing_does_not_wait_for_it() {
    Commits.commit().clear("k", "l").on(engine);
    engine.close();

    engine = RocksEngine.open(folder, EngineOptions.defaults());
    assertThat(rows()).containsExactly("a=before", "z=behind");
  }

  private void fill() {
    for (int row = 0; row < ROWS; row += ROWS_PER_COMMIT) {
      Commits commit = Commits.commit();
      for (int i = row; i < row + ROWS_PER_COMMIT; i++) {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        commit.set(Commits.bytes(String.format("k%08d", i)), value);
      }
      commit.on(engine);
    }
  }

  private List<String> rows() {
    return Commits.rows(engine, "a", "zz");
  }

  private long bytesOnDisk() {
    return RocksFiles.bytes(folder, "");
  }
}
