package lectus.store.embedded.engine;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the folder's {@link LogRecord} at most some seconds behind, and exact once the engine is
 * closed or idle. Commits never wait for it: it has a file and syncs of its own.
 */
final class LogRecorder {
  /** A second. What was committed since the last record may be lost unseen. */
  static final int TICKS_BETWEEN_RECORDS = 10;

  private static final Logger LOG = LoggerFactory.getLogger(LogRecorder.class);

  private final LogRecordFile file;
  private final LogTracker tracker;
  private final Executor executor;
  private final AtomicBoolean underWay = new AtomicBoolean();
  private int ticks;
  private volatile LogRecord tried;
  private volatile boolean failed;
  private boolean closed;

  LogRecorder(LogRecordFile file, LogTracker tracker, Executor executor) {
    this.file = file;
    this.tracker = tracker;
    this.executor = executor;
  }

  /** At each tick of the engine's timer. */
  void tick() {
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
      LOG.warn("no thread records the synced logs; a later tick tries again", refused);
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

  /** Writes what was noted last, unless that is there already. */
  synchronized void write() {
    LogRecord newest = tracker.noted();
    if (closed || (newest.equals(tried) && !failed)) {
      return;
    }
    try {
      file.write(newest);
      failed = false;
    } catch (IOException failure) {
      // The former record stays true; it only does not vouch for what is newer.
      if (!failed) {
        LOG.warn("the synced logs could not be recorded: {}", failure.toString());
      }
      failed = true;
    }
    tried = newest;
  }

  /** Writes for the last time: from now on another process may have the folder. */
  synchronized void close() {
    write();
    closed = true;
  }
}
