package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

final class LevelZeroTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  static {
    RocksDB.loadLibrary();
  }

  @TempDir Path folder;

  private Options options;
  private RocksDB db;
  private LevelZero levelZero;

  @BeforeEach
  void open() throws RocksDBException {
    options =
        new Options()
            .setCreateIfMissing(true)
            .setLevel0FileNumCompactionTrigger(LevelZero.FILES_UNDER_LOAD);
    db = RocksDB.open(options, folder.toString());
    levelZero = new LevelZero(db);
  }

  @AfterEach
  void close() {
    db.close();
    options.close();
  }

  @Test
  void is_merged_once_the_load_is_over() throws RocksDBException {
    writeFile("a");
    writeFile("b");

    ticks(LevelZero.TICKS_UNTIL_REST - 1, false);
    assertThat(trigger()).isEqualTo(LevelZero.FILES_UNDER_LOAD);
    assertThat(files()).isEqualTo(2);

    ticks(1, false);
    assertThat(trigger()).isEqualTo(LevelZero.FILES_AT_REST);
    awaitNoFiles();
    assertThat(db.get("b1".getBytes())).isEqualTo("value".getBytes());
  }

  @Test
  void gathers_files_again_under_load() throws RocksDBException {
    ticks(LevelZero.TICKS_UNTIL_REST, false);

    ticks(LevelZero.TICKS_UNTIL_LOAD - 1, true);
    assertThat(trigger()).isEqualTo(LevelZero.FILES_AT_REST);

    ticks(1, true);
    assertThat(trigger()).isEqualTo(LevelZero.FILES_UNDER_LOAD);
  }

  @Test
  void pauses_of_a_load_do_not_end_it() throws RocksDBException {
    for (int i = 0; i < 3; i++) {
      ticks(LevelZero.TICKS_UNTIL_REST - 1, false);
      ticks(1, true);
    }

    assertThat(trigger()).isEqualTo(LevelZero.FILES_UNDER_LOAD);
  }

  @Test
  void many_rows_in_memory_are_written_out_and_merged() throws RocksDBException {
    writeFile("a");
    writeRows(MemtableFlush.MANY_ROWS + 1);

    ticks(LevelZero.TICKS_UNTIL_REST, false);
    awaitRowsInMemory(0);
    awaitNoFiles();
    assertThat(db.get("row7".getBytes())).isEqualTo("value".getBytes());
  }

  @Test
  void few_rows_stay_in_memory() throws RocksDBException {
    writeRows(MemtableFlush.MANY_ROWS);

    ticks(LevelZero.TICKS_UNTIL_REST, false);
    assertThat(rowsInMemory()).isEqualTo(MemtableFlush.MANY_ROWS);
  }

  private void writeRows(int count) throws RocksDBException {
    for (int i = 0; i < count; i++) {
      db.put(("row" + i).getBytes(), "value".getBytes());
    }
  }

  private long rowsInMemory() throws RocksDBException {
    return db.getLongProperty("rocksdb.num-entries-active-mem-table")
        + db.getLongProperty("rocksdb.num-entries-imm-mem-tables");
  }

  private void awaitRowsInMemory(long rows) throws RocksDBException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (rowsInMemory() != rows && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(rowsInMemory()).isEqualTo(rows);
  }

  private void ticks(int count, boolean busy) {
    for (int i = 0; i < count; i++) {
      levelZero.tick(busy);
    }
  }

  /** Two keys around those of other files, so that merging cannot merely move it. */
  private void writeFile(String name) throws RocksDBException {
    db.put("0".getBytes(), name.getBytes());
    db.put((name + "1").getBytes(), "value".getBytes());
    db.put("z".getBytes(), name.getBytes());
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      db.flush(flush);
    }
  }

  private int trigger() throws RocksDBException {
    return db.getOptions(db.getDefaultColumnFamily()).level0FileNumCompactionTrigger();
  }

  private int files() throws RocksDBException {
    return Integer.parseInt(db.getProperty("rocksdb.num-files-at-level0"));
  }

  private void awaitNoFiles() throws RocksDBException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (files() > 0 && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(files()).isZero();
  }
}
