package lectus.store.embedded.engine;

import java.util.function.Consumer;
import lectus.store.embedded.engine.trouble.RecentLines;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Logger;
import org.slf4j.LoggerFactory;

/** Forwards RocksDB's log lines, so that it keeps no log file of its own beside the data. */
final class RocksLog extends Logger {
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
