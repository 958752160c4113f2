package lectus.store.embedded.engine.folder;

import com.apple.foundationdb.FDBException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import lectus.error.FoundationDbError;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps part of the disk free: committed data has to be flushed, logs have to be replayed into
 * files at the next start, and deleting takes space before it frees any. Below that low-water mark
 * commits are refused. Commits that free space are refused only below a quarter of it.
 */
public final class FreeSpace implements Measured {
  private static final Logger LOG = LoggerFactory.getLogger(FreeSpace.class);
  private static final long MAX_RESERVED = 512L << 20;

  /** The low-water mark is this fraction of a large disk: one twentieth. */
  private static final int RESERVED_PART = 20;

  /** It is at most this fraction of a small disk: one quarter. */
  private static final int MAX_PART = 4;

  /** A memtable is flushed to a table, while the next log grows as long as a memtable. */
  private static final int FLUSH_MEMTABLES = 2;

  private static final long MEGABYTE = 1_000_000;

  private final Path folder;
  private final long chosen;
  private final long flushBytes;
  private FileStore disk;
  private volatile long reserved;
  private volatile long free = Long.MAX_VALUE;
  private volatile boolean low;

  /**
   * @param chosen the low-water mark in bytes; 0: a twentieth of the disk, 512 MB at most, but no
   *     less than a flush needs, and of that a quarter of the disk at most
   */
  public FreeSpace(Path folder, long chosen, long memtableBytes) {
    this.folder = folder;
    this.chosen = chosen;
    this.flushBytes = FLUSH_MEMTABLES * memtableBytes;
    look();
  }

  /**
   * Queries the disk, from one thread at a time. If it does not answer, failing writes will show
   * that.
   */
  public void look() {
    try {
      if (disk == null) {
        disk = Files.getFileStore(folder);
        reserved = chosen > 0 ? chosen : mark(disk.getTotalSpace());
      }
      free = disk.getUsableSpace();
    } catch (IOException unknown) {
      free = Long.MAX_VALUE;
    }
    note();
  }

  private long mark(long total) {
    long share = Math.min(MAX_RESERVED, total / RESERVED_PART);
    return Math.max(share, Math.min(flushBytes, total / MAX_PART));
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_store_free_bytes", "Free bytes on the store's disk.", () -> free);
    meters.level(
        "lectus_store_reserved_bytes",
        "Below so many free bytes, commits are refused.",
        () -> reserved);
  }

  /** Returns whether the disk has enough space, with a margin above the mark. */
  public boolean isEnough() {
    return !low;
  }

  /** Returns whether there is less space than twice the mark, so that some is to be freed soon. */
  public boolean isShort() {
    return free < 2 * reserved;
  }

  /**
   * Returns a commit's error while the disk is short of space, or null.
   *
   * @param urgent whether it frees space
   */
  public FDBException refusal(boolean urgent) {
    return low && !(urgent && free >= reserved / 4)
        ? FoundationDbError.NO_SPACE.exception(sentence())
        : null;
  }

  /** A disk that is short of space stays so until it has a quarter more than the low-water mark. */
  private void note() {
    boolean wasLow = low;
    low = free < (wasLow ? enough() : reserved);
    if (low && !wasLow) {
      LOG.warn("{}", sentence());
    } else if (wasLow && !low) {
      LOG.info("The disk has {} MB free; writes are accepted again.", free / MEGABYTE);
    }
  }

  private long enough() {
    return reserved + reserved / 4;
  }

  private String sentence() {
    return "The disk has "
        + free / MEGABYTE
        + " MB free; writes are accepted again when there are "
        + (enough() + MEGABYTE - 1) / MEGABYTE
        + " MB.";
  }
}
