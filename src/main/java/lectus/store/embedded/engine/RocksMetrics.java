package lectus.store.embedded.engine;

import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import lectus.metrics.Measured;
import lectus.metrics.Meters;
import org.rocksdb.TickerType;

/**
 * What RocksDB says of itself.
 *
 * @param property reads one of its figures by its name
 * @param ticker reads one of its counters
 */
record RocksMetrics(Function<String, OptionalLong> property, ToLongFunction<TickerType> ticker)
    implements Measured {
  /** As many levels as RocksDB has by default. */
  private static final int LEVELS = 7;

  @Override
  public void describe(Meters meters) {
    for (int level = 0; level < LEVELS; level++) {
      level(
          meters.with("level", Integer.toString(level)),
          "lectus_rocksdb_level_files",
          "Files of one level.",
          "rocksdb.num-files-at-level" + level);
    }
    level(
        meters, "lectus_rocksdb_file_bytes", "Bytes of all files.", "rocksdb.total-sst-files-size");
    level(
        meters,
        "lectus_rocksdb_live_data_bytes",
        "Bytes of the files that would be left after a compaction, estimated.",
        "rocksdb.estimate-live-data-size");
    level(meters, "lectus_rocksdb_keys", "Keys, estimated.", "rocksdb.estimate-num-keys");
    level(
        meters,
        "lectus_rocksdb_memtable_bytes",
        "Bytes of what is not in files yet.",
        "rocksdb.cur-size-all-mem-tables");
    level(
        meters,
        "lectus_rocksdb_block_cache_bytes",
        "Bytes of cached blocks.",
        "rocksdb.block-cache-usage");
    describeStalls(meters);
    describeCache(meters.with("cache", "rocksdb_blocks"));
    describeWork(meters);
  }

  private void describeCache(Meters meters) {
    count(meters, "lectus_cache_hits", "Look-ups that found one.", TickerType.BLOCK_CACHE_HIT);
    count(meters, "lectus_cache_misses", "Look-ups that found none.", TickerType.BLOCK_CACHE_MISS);
  }

  private void describeWork(Meters meters) {
    count(
        meters,
        "lectus_rocksdb_stalled_microseconds",
        "How long writes waited for flushes or compactions.",
        TickerType.STALL_MICROS);
    count(
        meters,
        "lectus_rocksdb_log_syncs",
        "How often the write-ahead log was synced.",
        TickerType.WAL_FILE_SYNCED);
    count(
        meters,
        "lectus_rocksdb_log_bytes",
        "Bytes written to the write-ahead log.",
        TickerType.WAL_FILE_BYTES);
    count(
        meters,
        "lectus_rocksdb_flushed_bytes",
        "Bytes written from memory to files.",
        TickerType.FLUSH_WRITE_BYTES);
    count(
        meters,
        "lectus_rocksdb_compaction_read_bytes",
        "Bytes that compactions read.",
        TickerType.COMPACT_READ_BYTES);
    count(
        meters,
        "lectus_rocksdb_compaction_written_bytes",
        "Bytes that compactions wrote.",
        TickerType.COMPACT_WRITE_BYTES);
  }

  private void count(Meters meters, String name, String meaning, TickerType of) {
    meters.count(name, meaning, () -> ticker.applyAsLong(of));
  }

  private void describeStalls(Meters meters) {
    level(
        meters,
        "lectus_rocksdb_pending_compaction_bytes",
        "Bytes that compactions have yet to rewrite, estimated.",
        "rocksdb.estimate-pending-compaction-bytes");
    level(
        meters,
        "lectus_rocksdb_running_compactions",
        "Compactions that run now.",
        "rocksdb.num-running-compactions");
    level(
        meters,
        "lectus_rocksdb_running_flushes",
        "Flushes that run now.",
        "rocksdb.num-running-flushes");
    level(
        meters,
        "lectus_rocksdb_delayed_write_rate_bytes",
        "Bytes a second to which writes are slowed down; 0 if they are not.",
        "rocksdb.actual-delayed-write-rate");
    level(
        meters,
        "lectus_rocksdb_writes_stopped",
        "1 while writes wait for flushes or compactions.",
        "rocksdb.is-write-stopped");
    level(
        meters,
        "lectus_rocksdb_background_errors",
        "Failed flushes and compactions since the store was opened.",
        "rocksdb.background-errors");
  }

  private void level(Meters meters, String name, String meaning, String of) {
    meters.level(name, meaning, () -> property.apply(of).orElse(0));
  }
}
