package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import lectus.store.embedded.engine.folder.LogRecord.LogRecordFile;
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
    } catch (IOException | RuntimeException | Error failure) {
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

  /** The names of RocksDB's write-ahead logs: a number of six digits or more and {@code .log}. */
  public static final class LogNames {
    /** RocksDB has no longer numbers. */
    private static final String NAME = "\\d{1,18}\\.log";

    private LogNames() {}

    /**
     * Returns the logs in RocksDB's folder by number. Numbers only rise, so the oldest comes first.
     */
    public static SortedMap<Long, Path> in(Path folder) throws IOException {
      SortedMap<Long, Path> logs = new TreeMap<>();
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, LogNames::isLog)) {
        for (Path file : files) {
          String name = file.getFileName().toString();
          logs.put(Long.parseLong(name.substring(0, name.indexOf('.'))), file);
        }
      }
      return logs;
    }

    public static String name(long number) {
      return String.format("%06d.log", number);
    }

    private static boolean isLog(Path file) {
      return file.getFileName().toString().matches(NAME);
    }
  }

  /**
   * The part of the newest write-ahead log known to be on disk.
   *
   * @param file the log file
   * @param length its synced length in bytes; a power loss may lose what follows
   */
  public record SyncedLog(Path file, long length) {}

  /**
   * Keeps the folder's {@link LogRecord} at most some seconds behind, and exact once the engine is
   * closed or idle. Commits never wait for it: it has its own file and its own syncs.
   */
  public static final class LogRecorder {
    /** A second. The loss of commits made since the last record may go unnoticed. */
    public static final int TICKS_BETWEEN_RECORDS = 10;

    private static final Logger LOG = LoggerFactory.getLogger(LogRecorder.class);

    private final LogRecordFile file;
    private final LogTracker tracker;
    private final Executor executor;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private int ticks;
    private volatile LogRecord tried;
    private volatile boolean failed;
    private boolean closed;

    public LogRecorder(LogRecordFile file, LogTracker tracker, Executor executor) {
      this.file = file;
      this.tracker = tracker;
      this.executor = executor;
    }

    /** Called at each tick of the engine's timer. */
    public void tick() {
      ticks = (ticks + 1) % TICKS_BETWEEN_RECORDS;
      boolean due = ticks == 0 && (failed || tracker.isBehind());
      if ((due || !tracker.noted().equals(tried)) && underWay.compareAndSet(false, true)) {
        start(due);
      }
    }

    private void start(boolean due) {
      try {
        executor.execute(() -> run(due));
      } catch (RuntimeException | Error refused) {
        underWay.set(false);
        LOG.warn(
            "No thread is available to record the synced logs; a later tick tries again", refused);
      }
    }

    private void run(boolean due) {
      try {
        if (due) {
          tracker.ask();
        }
        write();
      } finally {
        underWay.set(false);
      }
    }

    /** Writes the last note, unless it is already written. */
    public synchronized void write() {
      LogRecord newest = tracker.noted();
      if (closed || (newest.equals(tried) && !failed)) {
        return;
      }
      try {
        file.write(newest);
        failed = false;
      } catch (IOException failure) {
        // The old record stays true; it just does not vouch for anything newer.
        if (!failed) {
          LOG.warn("The synced logs could not be recorded: {}", failure.toString());
        }
        failed = true;
      }
      tried = newest;
    }

    /** Writes for the last time. From now on another process may take the folder. */
    public synchronized void close() {
      write();
      closed = true;
    }
  }
}
