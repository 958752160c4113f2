package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import lectus.metrics.Tasks.TaskState;
import lectus.store.embedded.engine.Reclaiming.QuietFlush;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import lectus.store.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Cleared data soon leaves the disk, while others write, at rest, and in a nearly idle store. */
final class ReclaimingTest {
  /** The files of a store's RocksDB, as they are on disk. */
  private static final class RocksFiles {
    private RocksFiles() {}

    /**
     * Returns the bytes of all files whose names end so.
     *
     * @param folder the store's
     */
    static long bytes(Path folder, String suffix) {
      try (Stream<Path> files = Files.list(folder.resolve("rocks"))) {
        return files
            .filter(file -> file.toString().endsWith(suffix))
            .mapToLong(RocksFiles::bytes)
            .sum();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static long bytes(Path file) {
      try {
        return Files.size(file);
      } catch (NoSuchFileException goneMeanwhile) {
        return 0;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Cleared data soon leaves the disk, and nothing else disappears or reappears. */
  @Nested
  class UnderWrites {
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

  /** A store at rest gives back the space of what was deleted, without another write. */
  @Nested
  class AtRest {
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

  /** How a nearly idle store handles its few writes. */
  @Nested
  class NearlyIdle {
    private static final int ROWS = 25;

    /** Their deletions are fewer than what a store at rest flushes. */
    private static final int UPDATES = QuietFlush.MANY_DELETIONS / ROWS - 1;

    /** More than half a minute of ticks. */
    private static final int TICKS = 400;

    @TempDir Path folder;

    @Test
    void stays_in_memory_while_deletions_are_few() throws IOException {
      TurnedByHand hand = new TurnedByHand();
      EngineOptions options = EngineOptions.defaults().with(TestOptions.threads(hand, hand));
      try (RocksEngine engine = RocksEngine.open(folder, options)) {
        List<String> before = logs();
        for (int update = 0; update < UPDATES; update++) {
          engine.commit(replacement(update).request());
          hand.run();
        }
        for (int i = 0; i < TICKS; i++) {
          hand.tick();
        }

        // Each memtable has its own log, which begins with it.
        assertThat(logs()).isEqualTo(before).hasSize(1);
      }
    }

    /** Clears as many rows as it sets, like the update of a document. */
    private static Commits replacement(int update) {
      Commits commit = commit();
      for (int row = 0; row < ROWS; row++) {
        commit.clear("doc/" + update + "/" + row, "doc/" + update + "/" + row + "\0");
        commit.set("doc/" + (update + 1) + "/" + row, "");
      }
      return commit;
    }

    private List<String> logs() throws IOException {
      try (Stream<Path> files = Files.list(folder.resolve("rocks"))) {
        return files
            .map(file -> file.getFileName().toString())
            .filter(name -> name.endsWith(".log"))
            .sorted()
            .toList();
      }
    }
  }
}
