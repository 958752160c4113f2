package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import lectus.store.testing.Await;
import lectus.store.testing.SmallDisk;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that runs short of space or out of it, and then has space again. */
class FullDiskTest {
  private static final int MEGABYTES = 48;
  private static final long RESERVED = 8 << 20;
  private static final int NO_SPACE = 1599;
  private static final int VALUE_BYTES = 200_000;
  private static final EngineOptions OPTIONS =
      EngineOptions.defaults().withMemory(1 << 20, 1 << 20);

  @TempDir Path temporary;
  private final TreeSet<String> stored = new TreeSet<>();
  @AutoClose private SmallDisk disk;
  private int number;

  @BeforeEach
  void mount() {
    disk = SmallDisk.mount(temporary.resolve("disk"), MEGABYTES);
  }

  @Test
  void low_water_mark_holds_on_both_its_sides() {
    assertLowWaterMark(OPTIONS.withReserve(RESERVED));
  }

  @Test
  void low_water_mark_of_a_small_disk_is_what_a_flush_and_the_next_log_need() {
    assertLowWaterMark(EngineOptions.defaults().withMemory(RESERVED, RESERVED / 2));
  }

  @Test
  void low_water_mark_is_a_quarter_of_a_disk_that_has_no_room_for_a_flush() {
    disk.close();
    disk = SmallDisk.mount(temporary.resolve("small"), (int) ((4 * RESERVED) >> 20));
    assertLowWaterMark(EngineOptions.defaults().withMemory(2 * RESERVED, RESERVED));
  }

  private void assertLowWaterMark(EngineOptions options) {
    try (RocksEngine engine = RocksEngine.open(disk.data(), options)) {
      disk.fillUpTo(RESERVED + (1 << 20));
      assertThat(commit(engine)).isZero();

      disk.fillUpTo(RESERVED - 4096);
      Await.until("writes are refused", () -> commit(engine) == NO_SPACE);
      assertThat(keys(engine)).containsExactlyElementsOf(stored);
      assertThat(code(engine, true)).isZero();

      disk.fillUpTo(RESERVED / 4 - 4096);
      Await.until("what frees space is refused", () -> code(engine, true) == NO_SPACE);

      disk.clear();
      Await.until("writes go on", () -> commit(engine) == 0);
      assertThat(keys(engine)).containsAll(stored);
    }
  }

  @Test
  void store_that_ran_full_is_written_again_once_there_is_space() {
    try (RocksEngine engine = RocksEngine.open(disk.data(), OPTIONS.withReserve(1))) {
      long version = runFull(engine);
      assertThat(keys(engine)).containsAll(stored);

      disk.clear();
      Await.until("writes go on", () -> commit(engine) == 0);
      assertThat(engine.readVersion()).isGreaterThan(version);
      assertThat(keys(engine)).containsAll(stored);
    }
    assertOpensWithEverything();
  }

  @Test
  void store_that_ran_full_opens_again() {
    try (RocksEngine engine = RocksEngine.open(disk.data(), OPTIONS.withReserve(1))) {
      runFull(engine);
    }
    disk.clear();
    assertOpensWithEverything();
  }

  /** A log line is all that RocksDB's Java binding lets out of it. */
  @Test
  void flush_that_fails_refuses_the_next_commit_before_it_is_written() {
    EngineOptions options = EngineOptions.defaults().withMemory(8 << 20, 4 << 20).withReserve(1);
    try (RocksEngine engine = RocksEngine.open(disk.data(), options)) {
      while (stored.size() * VALUE_BYTES < 3_800_000) {
        assertThat(commit(engine)).isZero();
      }
      disk.fillUpTo(3 << 20);
      // They begin a flush, which needs more space than is left.
      assertThat(commit(engine)).isZero();
      assertThat(commit(engine)).isZero();

      Await.until("the failure is noticed", () -> refusesCommits(engine));
      assertThat(commit(engine)).isEqualTo(NO_SPACE);
      disk.clear();
      Await.until("the store is opened again", () -> !refusesCommits(engine));
      assertThat(commit(engine)).isZero();
    }
    assertOpensWithEverything();
  }

  private static boolean refusesCommits(RocksEngine engine) {
    AtomicReference<DoubleSupplier> refuses = new AtomicReference<>();
    engine.describe(
        new Meters() {
          @Override
          public void count(String name, String meaning, LongSupplier count) {}

          @Override
          public void level(String name, String meaning, DoubleSupplier level) {
            if (name.equals("lectus_store_refuses_commits")) {
              refuses.set(level);
            }
          }

          @Override
          public void spread(String name, String meaning, Histogram spread) {}

          @Override
          public Meters with(String label, String value) {
            return this;
          }
        });
    return refuses.get().getAsDouble() == 1;
  }

  /** Fills the disk by writing, so that the log, a table or the manifest hits the limit. */
  private long runFull(RocksEngine engine) {
    commit(engine);
    disk.fillUpTo((8 << 20));
    Await.until("the disk is full", () -> isFullAfterSome(engine));
    return engine.readVersion();
  }

  /** Without pauses, in which flushes would give space back. */
  private boolean isFullAfterSome(RocksEngine engine) {
    for (int i = 0; i < 100; i++) {
      if (commit(engine) == NO_SPACE) {
        return true;
      }
    }
    return false;
  }

  private void assertOpensWithEverything() {
    try (RocksEngine engine = RocksEngine.open(disk.data(), OPTIONS.withReserve(1))) {
      assertThat(keys(engine)).containsAll(stored);
      assertThat(commit(engine)).isZero();
    }
  }

  private int commit(Engine engine) {
    return code(engine, false);
  }

  private int code(Engine engine, boolean urgent) {
    String key = String.format("k%05d", number++);
    Commits commit = Commits.commit().set(Commits.bytes(key), new byte[VALUE_BYTES]);
    int code = (urgent ? commit.urgent() : commit).codeOn(engine);
    if (code == 0) {
      stored.add(key);
    }
    return code;
  }

  private static List<String> keys(Engine engine) {
    List<String> keys = new ArrayList<>();
    try (StoreSnapshot snapshot = engine.latest();
        Cursor cursor = snapshot.scan(Commits.bytes("k"), Commits.bytes("l"), false)) {
      while (cursor.next()) {
        keys.add(Commits.text(cursor.key()));
      }
    }
    return keys;
  }
}
