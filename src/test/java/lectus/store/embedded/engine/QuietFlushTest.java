package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lectus.store.embedded.engine.Reclaiming.QuietFlush;
import lectus.store.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store at rest gives back the space of what was deleted, without another write. */
final class QuietFlushTest {
  private static final int VALUE_BYTES = 1_000;
  private static final int ROWS_PER_COMMIT = 500;
  private static final int ROWS = 2 * QuietFlush.MANY_DELETIONS;

  /** Two minutes. */
  private static final int MANY_TICKS = 1_200;

  @TempDir Path folder;
  private final Random random = new Random(7);
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final TurnedByHand hand = new TurnedByHand();
  private RocksEngine engine;

  @BeforeEach
  void open() {
    engine =
        RocksEngine.open(
            folder,
            EngineOptions.defaults()
                .withMemory(32 << 20, 8 << 20)
                .with(TestOptions.threads(executor, hand)));
  }

  @AfterEach
  void close() {
    engine.close();
    executor.shutdown();
  }

  @Test
  void space_of_many_deleted_rows_comes_back_while_nobody_writes() {
    write(ROWS);
    Commits.commit().set("a", "before").set("z", "behind").on(engine);

    delete(0, ROWS);

    untilSmall(ROWS);
    assertThat(Commits.rows(engine, "a", "zz")).containsExactly("a=before", "z=behind");
  }

  @Test
  void space_of_small_cleared_ranges_comes_back_while_nobody_writes() {
    write(ROWS);
    for (int row = 0; row < ROWS; row += ROWS_PER_COMMIT) {
      Commits.commit().clear(key(row), key(row + ROWS_PER_COMMIT)).on(engine);
    }
    Commits.commit().set("k", "kept").on(engine);

    untilSmall(ROWS);
    assertThat(Commits.rows(engine, "a", "zz")).containsExactly("k=kept");
  }

  @Test
  void what_is_only_written_stays_in_memory() {
    write(ROWS / 10);
    restFor(MANY_TICKS);
    assertThat(bytesOf(".sst")).isZero();

    delete(0, ROWS / 10);
    restFor(MANY_TICKS);
    assertThat(bytesOf(".sst")).as("few deletions").isZero();
  }

  private void write(int rows) {
    for (int row = 0; row < rows; row += ROWS_PER_COMMIT) {
      Commits commit = Commits.commit();
      for (int i = row; i < row + ROWS_PER_COMMIT; i++) {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        commit.set(Commits.bytes(key(i)), value);
      }
      commit.on(engine);
    }
  }

  private void delete(int from, int to) {
    for (int row = from; row < to; row += ROWS_PER_COMMIT) {
      Commits commit = Commits.commit();
      for (int i = row; i < row + ROWS_PER_COMMIT; i++) {
        commit.clear(key(i), key(i) + "\0");
      }
      commit.on(engine);
    }
  }

  private static String key(int row) {
    return String.format("k%08d", row);
  }

  private void untilSmall(int rows) {
    assertThat(bytesOf("")).isGreaterThan((long) rows * VALUE_BYTES);
    Await.until(
        "the space is there",
        () -> {
          hand.tick();
          return bytesOf("") < (long) rows * VALUE_BYTES / 10;
        });
  }

  private void restFor(int ticks) {
    for (int i = 0; i < ticks; i++) {
      hand.tick();
    }
  }

  private long bytesOf(String suffix) {
    return RocksFiles.bytes(folder, suffix);
  }
}
