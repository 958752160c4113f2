package lectus.store.embedded.engine;

import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import org.rocksdb.TickerType;

/**
 * What RocksDB says of itself: our name, our meaning, its name.
 *
 * @param property reads one of its levels by its name
 * @param ticker reads one of its counters
 */
record RocksMetrics(Function<String, OptionalLong> property, ToLongFunction<TickerType> ticker)
    implements Measured {
  /** As many levels as RocksDB has by default. */
  private static final int LEVELS = 7;

  private static final String[][] PROPERTIES = {
    {"file_bytes", "Bytes of all files.", "total-sst-files-size"},
    {
      "live_data_bytes",
      "Bytes of the files that would be left after a compaction, estimated.",
      "estimate-live-data-size"
    },
    {"keys", "Keys, estimated.", "estimate-num-keys"},
    {"memtable_bytes", "Bytes of what is not in files yet.", "cur-size-all-mem-tables"},
    {"block_cache_bytes", "Bytes of cached blocks.", "block-cache-usage"},
    {
      "pending_compaction_bytes",
      "Bytes that compactions have yet to rewrite, estimated.",
      "estimate-pending-compaction-bytes"
    },
    {"running_compactions", "Compactions that run now.", "num-running-compactions"},
    {"running_flushes", "Flushes that run now.", "num-running-flushes"},
    {
      "delayed_write_rate_bytes",
      "Bytes a second to which writes are slowed down; 0 if they are not.",
      "actual-delayed-write-rate"
    },
    {"writes_stopped", "1 while writes wait for flushes or compactions.", "is-write-stopped"},
    {
      "background_errors",
      "Failed flushes and compactions since the store was opened.",
      "background-errors"
    }
  };

  @Override
  public void describe(Meters meters) {
    for (int level = 0; level < LEVELS; level++) {
      String number = Integer.toString(level);
      level(
          meters.with("level", number),
          "level_files",
          "Files of one level.",
          "num-files-at-level" + number);
    }
    for (String[] row : PROPERTIES) {
      level(meters, row[0], row[1], row[2]);
    }
    Meters cache = meters.with("cache", "rocksdb_blocks");
    count(cache, "cache_hits", "Look-ups that found one.", TickerType.BLOCK_CACHE_HIT);
    count(cache, "cache_misses", "Look-ups that found none.", TickerType.BLOCK_CACHE_MISS);
    count(
        meters,
        "rocksdb_stalled_microseconds",
        "How long writes waited for flushes or compactions.",
        TickerType.STALL_MICROS);
    count(
        meters,
        "rocksdb_log_syncs",
        "How often the write-ahead log was synced.",
        TickerType.WAL_FILE_SYNCED);
    count(
        meters,
        "rocksdb_log_bytes",
        "Bytes written to the write-ahead log.",
        TickerType.WAL_FILE_BYTES);
    count(
        meters,
        "rocksdb_flushed_bytes",
        "Bytes written from memory to files.",
        TickerType.FLUSH_WRITE_BYTES);
    count(
        meters,
        "rocksdb_compaction_read_bytes",
        "Bytes that compactions read.",
        TickerType.COMPACT_READ_BYTES);
    count(
        meters,
        "rocksdb_compaction_written_bytes",
        "Bytes that compactions wrote.",
        TickerType.COMPACT_WRITE_BYTES);
  }

  private void level(Meters meters, String name, String meaning, String of) {
    meters.level(
        "lectus_rocksdb_" + name, meaning, () -> property.apply("rocksdb." + of).orElse(0));
  }

  private void count(Meters meters, String name, String meaning, TickerType of) {
    meters.count("lectus_" + name, meaning, () -> ticker.applyAsLong(of));
  }
}
