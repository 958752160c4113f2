package lectus.store.embedded.engine;

import org.rocksdb.InfoLogLevel;
import org.rocksdb.Logger;
import org.slf4j.LoggerFactory;

/** Passes on what RocksDB has to say, so that it keeps no log file of its own beside the data. */
final class RocksLog extends Logger {
  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger("rocksdb");

  /** Of the process: a store that is opened again meets the same. */
  private static final RecentLines RECENT = new RecentLines(System::nanoTime);

  RocksLog(InfoLogLevel level) {
    super(level);
  }

  @Override
  protected void log(InfoLogLevel level, String message) {
    if (!RECENT.isNew(message)) {
      LOG.debug("{}", message);
    } else if (level.compareTo(InfoLogLevel.ERROR_LEVEL) >= 0) {
      LOG.error("{}", message);
    } else {
      LOG.warn("{}", message);
    }
  }
}
