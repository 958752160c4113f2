package lectus.store.embedded.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Properties;
import java.util.function.Consumer;
import lectus.metrics.Counting;
import lectus.store.embedded.engine.EngineOptions.Durability;
import lectus.store.embedded.engine.folder.BackgroundErrors;
import lectus.store.embedded.engine.folder.RecentLines;
import org.rocksdb.AbstractImmutableNativeReference;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.HistogramType;
import org.rocksdb.IndexType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Logger;
import org.rocksdb.Options;
import org.rocksdb.Statistics;
import org.rocksdb.TablePropertiesCollectorFactory;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;
import org.slf4j.LoggerFactory;

/** The settings of RocksDB. Owns the native objects that hold them. */
final class RocksSettings implements AutoCloseable {
  private static final int BLOOM_BITS_PER_KEY = 10;

  /** Of a memtable for its filter: 1 MB of 48, some 17 bits for each of 500 000 small rows. */
  private static final double MEMTABLE_FILTER_SHARE = 0.02;

  private static final long BLOCK_BYTES = 8 << 10;
  private static final int CACHE_SHARD_BITS = 4;

  /** The share of the cache in which indexes and filters are safe from eviction by data. */
  private static final double INDEX_SHARE = 0.5;

  private static final int MEMTABLES = 3;

  /**
   * Enough for a flush and concurrent compactions of different levels; a single one falls behind
   * bulk loads.
   */
  private static final int BACKGROUND_JOBS = 4;

  private static final int SUBCOMPACTIONS = 2;

  private static final int FILES_OF_LEVEL_0 = 4;

  /** High, because RocksDB slows writers far below the rate that compaction could sustain. */
  private static final int SLOWDOWN_FILES = 40;

  private static final int STOP_FILES = 60;

  private static final long BASE_LEVEL_BYTES = 64L << 20;
  private static final long BASE_FILE_BYTES = 8L << 20;

  /**
   * A file is compacted early when nearly all of this many consecutive rows are deletions; a scan
   * steps over that many in some milliseconds. Updates of documents delete as many rows as they
   * write, which is no reason to compact early.
   */
  private static final int DELETION_WINDOW = 32_768;

  private static final int DELETIONS_IN_WINDOW = 30_000;

  /** So is a smaller file of which this share is deletions, as that of a small purge. */
  private static final double SHARE_OF_DELETIONS = 0.6;

  private final Deque<AbstractImmutableNativeReference> natives = new ArrayDeque<>();
  private final BackgroundErrors backgroundErrors;
  private final Options options;
  private final WriteOptions writeOptions;

  /** Histograms would look at the clock for each read. */
  private final Statistics statistics;

  RocksSettings(EngineOptions engineOptions) {
    this(engineOptions, scanFlush());
  }

  /**
   * Returns the settings for a store that is only read. They omit flushing, or RocksDB would
   * complain.
   */
  static RocksSettings forReading(EngineOptions engineOptions) {
    return new RocksSettings(engineOptions, new Properties());
  }

  private RocksSettings(EngineOptions engineOptions, Properties columnFamily) {
    NativeLibrary.load();
    backgroundErrors = own(new BackgroundErrors());
    statistics = own(new Statistics(EnumSet.allOf(HistogramType.class)));
    options = own(initialOptions(columnFamily));
    general(engineOptions);
    if (Counting.IS_ON) {
      options.setStatistics(statistics);
    }
    memory(engineOptions);
    compaction();
    writeOptions = own(new WriteOptions().setSync(engineOptions.durability == Durability.SYNC));
  }

  Options options() {
    return options;
  }

  Statistics statistics() {
    return statistics;
  }

  BackgroundErrors backgroundErrors() {
    return backgroundErrors;
  }

  WriteOptions writeOptions() {
    return writeOptions;
  }

  @Override
  public void close() {
    while (!natives.isEmpty()) {
      natives.pop().close();
    }
  }

  private static Options initialOptions(Properties properties) {
    if (properties.isEmpty()) {
      return new Options();
    }
    try (DBOptions database = new DBOptions();
        ColumnFamilyOptions columnFamily =
            ColumnFamilyOptions.getColumnFamilyOptionsFromProps(properties)) {
      return new Options(database, columnFamily);
    }
  }

  /**
   * Makes a scan that steps over many deleted rows of the memtable request its flush, after which
   * the next scan is fast. The Java binding has no setter for this.
   */
  private static Properties scanFlush() {
    Properties properties = new Properties();
    properties.setProperty("memtable_op_scan_flush_trigger", "10000");
    return properties;
  }

  /**
   * With a limit of open files RocksDB opens few of them at startup. It still checks that each
   * exists and has the right length. Preallocated logs and tables would take space that the disk
   * then lacks for commits: a log as much as a memtable.
   */
  private void general(EngineOptions engineOptions) {
    options
        .setParanoidChecks(true)
        .setAllowFAllocate(false)
        .setMaxOpenFiles(engineOptions.openFiles)
        .setSkipStatsUpdateOnDbOpen(true)
        .setMaxBackgroundJobs(BACKGROUND_JOBS)
        .setMaxSubcompactions(SUBCOMPACTIONS)
        .setStatsDumpPeriodSec(0)
        .setMaxBgErrorResumeCount(0)
        .setListeners(List.of(backgroundErrors))
        .setLogger(own(new RocksLog(InfoLogLevel.WARN_LEVEL, backgroundErrors::logged)));
  }

  /**
   * Uses one budget: memtables reduce the cache. The indexes and filters of a large store exceed
   * the budget, so they are read in parts, as data is; data does not evict them. Memtables and all
   * levels have filters, so that a new document's keys are seldom looked for.
   */
  private void memory(EngineOptions engineOptions) {
    Cache cache = own(new LRUCache(engineOptions.cacheBytes, CACHE_SHARD_BITS, false, INDEX_SHARE));
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setCacheIndexAndFilterBlocks(true)
            .setCacheIndexAndFilterBlocksWithHighPriority(true)
            .setPinL0FilterAndIndexBlocksInCache(true)
            .setPinTopLevelIndexAndFilter(true)
            .setIndexType(IndexType.kTwoLevelIndexSearch)
            .setPartitionFilters(true)
            .setFilterPolicy(own(new BloomFilter(BLOOM_BITS_PER_KEY)))
            .setBlockSize(BLOCK_BYTES)
            .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash)
            .setFormatVersion(6);
    options
        .setTableFormatConfig(table)
        .setWriteBufferSize(engineOptions.memtableBytes)
        .setMaxWriteBufferNumber(MEMTABLES)
        .setMemtablePrefixBloomSizeRatio(MEMTABLE_FILTER_SHARE)
        .setMemtableWholeKeyFiltering(true)
        .setWriteBufferManager(
            own(new WriteBufferManager(MEMTABLES * engineOptions.memtableBytes, cache)));
  }

  /**
   * Every compaction of level 0 rewrites the whole base level, because each memtable spans all
   * subspaces. So several memtables are compacted at a time. Until then each costs every read an
   * extra search, which is cheaper than rewriting the base level for each. Files grow towards the
   * last level, so that a large store does not have too many.
   */
  private void compaction() {
    options
        .setLevel0FileNumCompactionTrigger(FILES_OF_LEVEL_0)
        .setLevel0SlowdownWritesTrigger(SLOWDOWN_FILES)
        .setLevel0StopWritesTrigger(STOP_FILES)
        .setLevelCompactionDynamicLevelBytes(true)
        .setMaxBytesForLevelBase(BASE_LEVEL_BYTES)
        .setTargetFileSizeBase(BASE_FILE_BYTES)
        .setTargetFileSizeMultiplier(2)
        .setOptimizeFiltersForHits(false)
        .setMemtableMaxRangeDeletions(1000)
        .setCompressionPerLevel(
            List.of(CompressionType.NO_COMPRESSION, CompressionType.LZ4_COMPRESSION))
        .setTablePropertiesCollectorFactory(
            List.of(
                own(
                    TablePropertiesCollectorFactory.NewCompactOnDeletionCollectorFactory(
                        DELETION_WINDOW, DELETIONS_IN_WINDOW, SHARE_OF_DELETIONS))));
  }

  private <T extends AbstractImmutableNativeReference> T own(T object) {
    natives.push(object);
    return object;
  }

  /** Forwards RocksDB's log lines, so that it keeps no log file of its own beside the data. */
  private static final class RocksLog extends Logger {
    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger("rocksdb");

    /** Shared by the process: a reopened store logs the same lines. */
    private static final RecentLines RECENT = new RecentLines(System::nanoTime);

    private final Consumer<String> listener;

    /**
     * @param listener is given each line, also those that are not logged again
     */
    RocksLog(InfoLogLevel level, Consumer<String> listener) {
      super(level);
      this.listener = listener;
    }

    @Override
    protected void log(InfoLogLevel level, String message) {
      listener.accept(message);
      if (!RECENT.isNew(message)) {
        LOG.debug("{}", message);
      } else if (level.compareTo(InfoLogLevel.ERROR_LEVEL) >= 0) {
        LOG.error("{}", message);
      } else {
        LOG.warn("{}", message);
      }
    }
  }
}
