package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

class RocksSettingsTest {
  private static final long MIB = 1L << 20;
  private static final long CACHE_BYTES = 64 * MIB;
  private static final int ROWS = 1_000;
  private static final int VALUE_BYTES = 10_000;

  @TempDir Path folder;

  @Test
  void what_memtables_take_the_cache_gives_up() throws RocksDBException {
    try (RocksSettings settings = settings();
        RocksDB db = open(settings)) {
      assertThat(db.getLongProperty("rocksdb.block-cache-capacity")).isEqualTo(CACHE_BYTES);
      long before = db.getLongProperty("rocksdb.block-cache-usage");

      write(db);

      assertThat(db.getLongProperty("rocksdb.block-cache-usage") - before)
          .isGreaterThanOrEqualTo((long) ROWS * VALUE_BYTES);
    }
  }

  @Test
  void files_with_indexes_and_filters_in_one_piece_are_read() throws RocksDBException {
    try (BloomFilter filter = new BloomFilter(10);
        Options earlier =
            new Options()
                .setCreateIfMissing(true)
                .setTableFormatConfig(new BlockBasedTableConfig().setFilterPolicy(filter));
        FlushOptions flush = new FlushOptions();
        RocksDB db = RocksDB.open(earlier, folder.toString())) {
      write(db);
      db.flush(flush);
    }

    try (RocksSettings settings = settings();
        RocksDB db = open(settings)) {
      assertThat(db.get(key(ROWS - 1))).hasSize(VALUE_BYTES);
      db.compactRange();
      assertThat(db.get(key(ROWS - 1))).hasSize(VALUE_BYTES);
      assertThat(db.get(key(ROWS))).isNull();
    }
  }

  private static RocksSettings settings() {
    return new RocksSettings(
        EngineOptions.defaults().withMemory(CACHE_BYTES, 16 * MIB).withOpenFiles(64));
  }

  private RocksDB open(RocksSettings settings) throws RocksDBException {
    return RocksDB.open(settings.options().setCreateIfMissing(true), folder.toString());
  }

  private static void write(RocksDB db) throws RocksDBException {
    Random random = new Random(1);
    byte[] value = new byte[VALUE_BYTES];
    for (int i = 0; i < ROWS; i++) {
      random.nextBytes(value);
      db.put(key(i), value);
    }
  }

  private static byte[] key(int number) {
    return String.format("row%05d", number).getBytes(StandardCharsets.US_ASCII);
  }
}
