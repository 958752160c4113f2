package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the folder's {@link LogRecord} at most some seconds behind, and exact once the engine is
 * closed or idle. Commits never wait for it: it has its own file and its own syncs.
 */
public final class LogRecorder {
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
