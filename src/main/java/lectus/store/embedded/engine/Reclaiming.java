package lectus.store.embedded.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.CompactRangeOptions.BottommostLevelCompaction;
import org.rocksdb.FlushOptions;
import org.rocksdb.MutableColumnFamilyOptions;
import org.rocksdb.Range;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SizeApproximationFlag;
import org.rocksdb.Slice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reclaims the disk space of large cleared ranges, one after the other in the background. It drops
 * files that hold nothing else and compacts the rest. Without it, cleared data stays on disk until
 * ordinary compactions reach it. Smaller ranges wait until the store is at rest.
 *
 * <p>Dropping a file also drops its tombstones, so rows that they hid in lower levels would
 * reappear. A range tombstone is therefore written first, in a commit that loses if the range is
 * not empty. Files are dropped only while that tombstone cannot have left level 0, whose files are
 * never dropped: compactions are paused from before that commit. No file is dropped while a reader
 * holds an older state.
 */
final class Reclaiming implements AutoCloseable {
  /** Smaller ranges wait. */
  static final long LARGE_BYTES = 16 << 20;

  /** What is cleared together and smaller than this is left to ordinary compactions. */
  private static final long WORTHWHILE_BYTES = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(Reclaiming.class);
  private static final int MAX_WAITING = 1_000;
  private static final long POLL_NANOS = Duration.ofMillis(20).toNanos();

  /** Snapshots expire after five seconds of versions. */
  private static final long PATIENCE_NANOS = Duration.ofSeconds(20).toNanos();

  private final RocksDB db;
  private final SnapshotRegistry snapshots;
  private final UseCount gate;
  private final Function<CommitRequest, CompletableFuture<CommitReceipt>> commits;
  private final Tasks tasks;
  private final ThreadPoolExecutor thread;
  private final SmallRanges small = new SmallRanges();
  private final CompactRangeOptions compaction =
      new CompactRangeOptions()
          .setExclusiveManualCompaction(false)
          .setBottommostLevelCompaction(BottommostLevelCompaction.kForceOptimized)
          .setMaxSubcompactions(1);
  private volatile boolean stopped;

  /**
   * @param gate the store run's gate, held while a range is reclaimed
   */
  Reclaiming(
      RocksDB db,
      SnapshotRegistry snapshots,
      UseCount gate,
      Function<CommitRequest, CompletableFuture<CommitReceipt>> commits,
      Tasks tasks) {
    this.db = db;
    this.snapshots = snapshots;
    this.gate = gate;
    this.commits = commits;
    this.tasks = tasks;
    this.thread =
        new ThreadPoolExecutor(
            1,
            1,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            EngineThreads.daemons("reclaiming"),
            new ThreadPoolExecutor.DiscardPolicy());
    thread.allowCoreThreadTimeOut(true);
  }

  /** Queues a cleared range. Quick. */
  void cleared(byte[] begin, byte[] end) {
    thread.execute(() -> unlessEnded(() -> reclaimIfLarge(begin, end)));
  }

  boolean hasSmallRanges() {
    return !small.isEmpty();
  }

  /**
   * Queues the reclaiming of what was deleted meanwhile, for a store at rest. Quick.
   *
   * @param flushes whether deletions of single rows are worth a flush, too
   */
  void settle(boolean flushes) {
    thread.execute(() -> unlessEnded(() -> settleNow(flushes)));
  }

  /** Makes running work end soon, without waiting for it. */
  synchronized void stop() {
    if (!stopped) {
      stopped = true;
      compaction.setCanceled(true);
      thread.shutdown();
    }
  }

  /** Requires that no work is under way. */
  @Override
  public void close() {
    compaction.close();
  }

  private interface Work {
    void run() throws RocksDBException;
  }

  private void unlessEnded(Work work) {
    if (stopped || gate.enter() != UseCount.OPEN) {
      return;
    }
    try {
      work.run();
    } catch (RocksDBException | RuntimeException | Error failure) {
      if (!stopped) {
        LOG.warn("The space of deleted data could not be reclaimed yet: {}", failure.getMessage());
      }
    } finally {
      gate.exit();
    }
  }

  private void reclaimIfLarge(byte[] begin, byte[] end) throws RocksDBException {
    long bytes = bytesInFiles(begin, end);
    if (bytes >= LARGE_BYTES) {
      reclaim(begin, end, bytes);
    }
    // What it held of a memtable is in no file yet.
    small.add(new KeyRange(begin, end));
  }

  /** RocksDB itself compacts files that are mostly deletions of rows, but not those of ranges. */
  private void settleNow(boolean flushes) throws RocksDBException {
    List<KeyRange> worthwhile =
        small.take(this::bytes).stream().filter(range -> bytes(range) >= WORTHWHILE_BYTES).toList();
    if (!flushes && worthwhile.isEmpty()) {
      return;
    }
    if (!awaitOldestHeld(snapshots.newestHeldVersion())) {
      // What older snapshots still see would stay in the files.
      worthwhile.forEach(small::add);
      return;
    }
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true).setAllowWriteStall(false)) {
      db.flush(flush);
    }
    for (KeyRange range : worthwhile) {
      compact(range.begin(), range.end());
    }
  }

  private long bytes(KeyRange range) {
    try (Slice from = new Slice(range.begin());
        Slice to = new Slice(range.end())) {
      return db.getApproximateSizes(
              List.of(new Range(from, to)),
              SizeApproximationFlag.INCLUDE_FILES,
              SizeApproximationFlag.INCLUDE_MEMTABLES)[0];
    }
  }

  private void reclaim(byte[] begin, byte[] end, long bytes) throws RocksDBException {
    try (RunningTask task = tasks.begin("space_reclaiming").outOf(bytes)) {
      dropFiles(begin, end);
      task.advance(bytes - Math.min(bytes, bytesInFiles(begin, end)));
      compact(begin, end);
    }
  }

  private long bytesInFiles(byte[] begin, byte[] end) {
    try (Slice from = new Slice(begin);
        Slice to = new Slice(end)) {
      return db.getApproximateSizes(
              List.of(new Range(from, to)), SizeApproximationFlag.INCLUDE_FILES)[0];
    }
  }

  private void dropFiles(byte[] begin, byte[] end) throws RocksDBException {
    pauseCompactions(true);
    try {
      if (cover(begin, end)) {
        db.deleteFilesInRanges(db.getDefaultColumnFamily(), List.of(begin, end), false);
      }
    } finally {
      pauseCompactions(false);
    }
  }

  /**
   * Writes a tombstone above everything in the range. Returns whether the range is empty for every
   * reader.
   */
  private boolean cover(byte[] begin, byte[] end) {
    long seen;
    try (StoreSnapshot snapshot = snapshots.latest();
        Cursor cursor = snapshot.scan(begin, end, false)) {
      if (cursor.next()) {
        return false;
      }
      seen = snapshot.version();
    }
    CommitRequest request =
        new CommitRequest(
            seen,
            List.of(new KeyRange(begin, end)),
            List.of(),
            List.of(new Mutation.Cover(begin, end)),
            true,
            true);
    try {
      return awaitOldestHeld(commits.apply(request).join().version());
    } catch (CompletionException writtenMeanwhile) {
      return false;
    }
  }

  private boolean awaitOldestHeld(long version) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (snapshots.oldestHeldVersion() < version) {
      if (stopped || System.nanoTime() - deadline > 0) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }

  private void compact(byte[] begin, byte[] end) throws RocksDBException {
    if (!stopped) {
      db.compactRange(db.getDefaultColumnFamily(), begin, end, compaction);
    }
  }

  /** Running compactions continue. They contain nothing that is committed from now on. */
  private void pauseCompactions(boolean paused) throws RocksDBException {
    db.setOptions(MutableColumnFamilyOptions.builder().setDisableAutoCompactions(paused).build());
  }

  /** Cleared ranges whose space is to be reclaimed once the store is at rest. */
  private static final class SmallRanges {
    /** Further ones are left to ordinary compactions. */
    static final int MOST = 1_000;

    private final List<KeyRange> ranges = new ArrayList<>();

    synchronized void add(KeyRange range) {
      if (ranges.size() < MOST) {
        ranges.add(range);
      }
    }

    synchronized boolean isEmpty() {
      return ranges.isEmpty();
    }

    /**
     * Returns all ranges and forgets them. Neighbours are joined where less lies between them than
     * in them, so that few compactions reclaim many small ranges and rewrite little else.
     *
     * @param bytes how much is stored in a range
     */
    List<KeyRange> take(ToLongFunction<KeyRange> bytes) {
      List<KeyRange> joined = new ArrayList<>();
      for (KeyRange next : sorted()) {
        KeyRange last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
        if (last != null && isNear(last, next, bytes)) {
          joined.set(joined.size() - 1, new KeyRange(last.begin(), later(last.end(), next.end())));
        } else {
          joined.add(next);
        }
      }
      return joined;
    }

    private synchronized List<KeyRange> sorted() {
      List<KeyRange> all = new ArrayList<>(ranges);
      ranges.clear();
      all.sort((one, other) -> Arrays.compareUnsigned(one.begin(), other.begin()));
      return all;
    }

    private static boolean isNear(KeyRange last, KeyRange next, ToLongFunction<KeyRange> bytes) {
      return Arrays.compareUnsigned(next.begin(), last.end()) <= 0
          || bytes.applyAsLong(new KeyRange(last.end(), next.begin()))
              < bytes.applyAsLong(last) + bytes.applyAsLong(next);
    }

    private static byte[] later(byte[] one, byte[] other) {
      return Arrays.compareUnsigned(one, other) >= 0 ? one : other;
    }
  }

  /**
   * Tells when the deletions of a memtable are to be flushed though it is not full: when they are
   * many and the store is at rest. RocksDB compacts what deletions hide only once they have left
   * its memory, which without writes they never do. It goes by RocksDB's own figures of the
   * memtable, so commits count nothing. Used by one thread.
   */
  static final class QuietFlush {
    /** Fewer are not worth a file; those of some 2 500 purged documents are as many. */
    static final int MANY_DELETIONS = 10_000;

    private static final String ENTRIES = "rocksdb.num-entries-active-mem-table";
    private static final String DELETIONS = "rocksdb.num-deletes-active-mem-table";
    private static final int TICKS_PER_LOOK = 10;

    /** Five seconds, for which open snapshots may need what was deleted. */
    private static final int QUIET_LOOKS = 5;

    /** A minute between two flushes, so that deletions that drip in cost little. */
    private static final int LOOKS_OF_REST = 60;

    /** Entries between two looks that a store at rest may still write, as leases and notes. */
    private static final int FEW_ENTRIES = 100;

    private final RocksDB db;
    private final Reclaiming reclaiming;
    private int ticks;
    private long entries;
    private int quiet;
    private int rest;

    QuietFlush(RocksDB db, Reclaiming reclaiming) {
      this.db = db;
      this.reclaiming = reclaiming;
    }

    /** Called ten times a second. Quick. */
    void tick() {
      ticks++;
      if (ticks < TICKS_PER_LOOK) {
        return;
      }
      ticks = 0;
      try {
        look();
      } catch (RocksDBException unknown) {
        quiet = 0;
      }
    }

    private void look() throws RocksDBException {
      long now = db.getLongProperty(ENTRIES);
      boolean isQuiet = now >= entries && now - entries <= FEW_ENTRIES;
      entries = now;
      quiet = isQuiet ? quiet + 1 : 0;
      rest = Math.max(0, rest - 1);
      if (quiet < QUIET_LOOKS || rest > 0) {
        return;
      }
      boolean isMany = db.getLongProperty(DELETIONS) >= MANY_DELETIONS;
      if (isMany || reclaiming.hasSmallRanges()) {
        rest = LOOKS_OF_REST;
        reclaiming.settle(isMany);
      }
    }
  }
}
