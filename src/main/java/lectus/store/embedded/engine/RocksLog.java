package lectus.store.embedded.engine;

import org.rocksdb.InfoLogLevel;
import org.rocksdb.Logger;
import org.slf4j.LoggerFactory;

/** Passes on what RocksDB has to say, so that it keeps no log file of its own beside the data. */
final class RocksLog extends Logger {
  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger("rocksdb");

  RocksLog(InfoLogLevel level) {
    super(level);
  }

  @Override
  protected void log(InfoLogLevel level, String message) {
    if (level.compareTo(InfoLogLevel.ERROR_LEVEL) >= 0) {
      LOG.error("{}", message);
    } else {
      LOG.warn("{}", message);
    }
  }
}
