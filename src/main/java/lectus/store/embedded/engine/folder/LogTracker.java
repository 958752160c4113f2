package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks how much of the write-ahead logs is on disk. That is all of it in a turn of the committer
 * whose last write is synced. The logs are listed on another thread, because listing a large store
 * takes milliseconds; the committer only asks for their lengths.
 */
public final class LogTracker {
  private static final Logger LOG = LoggerFactory.getLogger(LogTracker.class);

  private final Path folder;
  private final LongSupplier ceiling;
  private final boolean everySync;
  private final AtomicLong syncs = new AtomicLong();
  private volatile Listing asked;
  private volatile Note noted;

  /** Whether the last attempt failed. Logged once, because the commits report the cause. */
  private volatile boolean unlisted;

  /**
   * Notes the current logs.
   *
   * @param folder RocksDB's; everything in its newest log is synced
   * @param ceiling the version ceiling that is durable in the store
   * @param everySync whether to note each sync without being asked
   */
  public LogTracker(Path folder, LongSupplier ceiling, boolean everySync) {
    this.folder = folder;
    this.ceiling = ceiling;
    this.everySync = everySync;
    try {
      this.noted = note(list());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Called by the committer after each synced write. */
  public void synced() {
    syncs.incrementAndGet();
    if (everySync) {
      ask();
    }
    settle();
  }

  /** Notes the lengths if requested. Runs in a turn of the committer, after no failed write. */
  public void settle() {
    Listing listing = asked;
    if (listing == null) {
      return;
    }
    asked = null;
    try {
      Note next = note(listing);
      // If all these logs have been flushed and deleted, the next request finds their successor.
      noted = next.record().lengths().isEmpty() ? noted : next;
    } catch (Throwable failure) {
      // The commits are on disk anyway, and the previous note stays true.
      LOG.warn("The lengths of the write-ahead logs could not be read", failure);
    }
  }

  /** Makes the next turn of the committer note the lengths, if anything is new. */
  public void ask() {
    if (!isBehind()) {
      return;
    }
    try {
      asked = list();
      unlisted = false;
    } catch (IOException | RuntimeException failure) {
      if (!unlisted) {
        LOG.info("The write-ahead logs could not be listed: {}", failure.toString());
      }
      unlisted = true;
    }
  }

  /** Returns whether something was synced that {@link #noted} may not include. */
  boolean isBehind() {
    return noted.syncs() < syncs.get();
  }

  public LogRecord noted() {
    return noted.record();
  }

  /** Returns the newest log as noted. */
  public SyncedLog newest() {
    SortedMap<Long, Long> lengths = noted.record().lengths();
    long number = lengths.lastKey();
    return new SyncedLog(folder.resolve(LogNames.name(number)), lengths.get(number));
  }

  /** Misses logs begun after this, and what is synced to them. */
  private Listing list() throws IOException {
    long before = syncs.get();
    return new Listing(before, LogNames.in(folder));
  }

  private Note note(Listing listing) throws IOException {
    SortedMap<Long, Long> lengths = new TreeMap<>();
    for (Map.Entry<Long, Path> log : listing.logs().entrySet()) {
      long length = length(log.getValue());
      // Even the name of an empty log need not be on disk.
      if (length > 0) {
        lengths.put(log.getKey(), length);
      }
    }
    return new Note(listing.syncs(), new LogRecord(ceiling.getAsLong(), lengths));
  }

  /** Returns 0 for a log that RocksDB no longer needs and has just deleted. */
  private static long length(Path log) throws IOException {
    try {
      return Files.size(log);
    } catch (NoSuchFileException deleted) {
      return 0;
    }
  }

  /** The logs that hold the first {@code syncs} writes. */
  private record Listing(long syncs, SortedMap<Long, Path> logs) {}

  /** Lengths that cover at least the first {@code syncs} writes. */
  private record Note(long syncs, LogRecord record) {}
}
