package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps some of the disk free: what was committed has to be written out, logs have to be read into
 * files at the next start, and deleting takes space before it gives any. Below that low-water mark
 * commits are refused. Those that free space are refused below a quarter of it.
 */
final class FreeSpace {
  private static final Logger LOG = LoggerFactory.getLogger(FreeSpace.class);
  private static final long MOST_RESERVED = 512L << 20;

  /** Of the disk, where that is less. */
  private static final int RESERVED_PART = 20;

  private static final long MEGABYTE = 1_000_000;

  private final Path folder;
  private final long chosen;
  private FileStore disk;
  private long reserved;
  private volatile long free = Long.MAX_VALUE;
  private volatile boolean low;

  /**
   * @param chosen the low-water mark in bytes; 0: a twentieth of the disk, 512 MB at most
   */
  FreeSpace(Path folder, long chosen) {
    this.folder = folder;
    this.chosen = chosen;
    look();
  }

  /**
   * Asks the disk; for one thread at a time. If it does not answer, failing writes will show it.
   */
  void look() {
    try {
      if (disk == null) {
        disk = Files.getFileStore(folder);
        reserved =
            chosen > 0 ? chosen : Math.min(MOST_RESERVED, disk.getTotalSpace() / RESERVED_PART);
      }
      free = disk.getUsableSpace();
    } catch (IOException unknown) {
      free = Long.MAX_VALUE;
    }
    note();
  }

  /** Whether the disk is not short, and would not be again at once. */
  boolean isEnough() {
    return !low;
  }

  /**
   * What a commit gets while the disk is short, or null.
   *
   * @param urgent whether it frees space
   */
  FDBException refusal(boolean urgent) {
    return low && !(urgent && free >= reserved / 4) ? StoreErrors.noSpace(sentence()) : null;
  }

  /** A disk that is short stays so until it has a quarter more than the low-water mark. */
  private void note() {
    boolean wasLow = low;
    low = free < (wasLow ? enough() : reserved);
    if (low && !wasLow) {
      LOG.warn("{}", sentence());
    } else if (wasLow && !low) {
      LOG.info("The disk has {} MB free, and the store is written again.", free / MEGABYTE);
    }
  }

  private long enough() {
    return reserved + reserved / 4;
  }

  private String sentence() {
    return "The disk has "
        + free / MEGABYTE
        + " MB free; the store is written again when there are "
        + (enough() + MEGABYTE - 1) / MEGABYTE
        + " MB.";
  }
}
