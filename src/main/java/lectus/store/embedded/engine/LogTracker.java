package lectus.store.embedded.engine;

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
 * Notes how much of the write-ahead logs is on disk: all of it, in a turn of the committer, once
 * its last write is synced. Which logs there are is looked up on another thread, as the listing of
 * a large store takes milliseconds; the committer only asks for their lengths.
 */
final class LogTracker {
  private static final Logger LOG = LoggerFactory.getLogger(LogTracker.class);

  private final Path folder;
  private final LongSupplier ceiling;
  private final boolean everySync;
  private final AtomicLong syncs = new AtomicLong();
  private volatile Listing asked;
  private volatile Note noted;

  /** The last attempt failed, which is told once: what is wrong the commits tell. */
  private volatile boolean unlisted;

  /**
   * Notes what is there now.
   *
   * @param folder RocksDB's; everything in its newest log is synced
   * @param ceiling the version ceiling that is durable in the store
   * @param everySync whether each sync is noted, unasked
   */
  LogTracker(Path folder, LongSupplier ceiling, boolean everySync) {
    this.folder = folder;
    this.ceiling = ceiling;
    this.everySync = everySync;
    try {
      this.noted = note(list());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** To be called by the committer after each synced write. */
  void synced() {
    syncs.incrementAndGet();
    if (everySync) {
      ask();
    }
    settle();
  }

  /**
   * Notes the lengths if that was asked for. In a turn of the committer, no write having failed.
   */
  void settle() {
    Listing listing = asked;
    if (listing == null) {
      return;
    }
    asked = null;
    try {
      Note next = note(listing);
      // If all of the logs are written out and gone, who asks again finds the one that was begun.
      noted = next.record().lengths().isEmpty() ? noted : next;
    } catch (Throwable failure) {
      // The commits are on disk all the same, and what was noted before stays true.
      LOG.warn("the lengths of the logs could not be noted", failure);
    }
  }

  /** Has the next turn of the committer note the lengths, if there is anything new. */
  void ask() {
    if (!isBehind()) {
      return;
    }
    try {
      asked = list();
      unlisted = false;
    } catch (IOException | RuntimeException failure) {
      if (!unlisted) {
        LOG.info("the logs could not be listed: {}", failure.toString());
      }
      unlisted = true;
    }
  }

  /** Whether something was synced that {@link #noted} may not tell of. */
  boolean isBehind() {
    return noted.syncs() < syncs.get();
  }

  LogRecord noted() {
    return noted.record();
  }

  /** The newest log as it was noted. */
  SyncedLog newest() {
    SortedMap<Long, Long> lengths = noted.record().lengths();
    long number = lengths.lastKey();
    return new SyncedLog(folder.resolve(LogFiles.name(number)), lengths.get(number));
  }

  /** A log that is begun after this is missed, and with it what was synced after this. */
  private Listing list() throws IOException {
    long before = syncs.get();
    return new Listing(before, LogFiles.in(folder));
  }

  private Note note(Listing listing) throws IOException {
    SortedMap<Long, Long> lengths = new TreeMap<>();
    for (Map.Entry<Long, Path> log : listing.logs().entrySet()) {
      long length = length(log.getValue());
      // Not even the name of an empty log need be on disk.
      if (length > 0) {
        lengths.put(log.getKey(), length);
      }
    }
    return new Note(listing.syncs(), new LogRecord(ceiling.getAsLong(), lengths));
  }

  /** 0 for a log that RocksDB needs no more and has just deleted. */
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
