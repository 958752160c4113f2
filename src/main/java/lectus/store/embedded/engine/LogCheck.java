package lectus.store.embedded.engine;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Decides, before RocksDB sees the logs, whether they may be recovered: the newest one may end in a
 * torn record, which was never acknowledged. RocksDB's own tolerance is too wide (it also passes
 * over a shortened older log, zeroed blocks and a damaged length near the end, and knows nothing of
 * a log that is gone) and too narrow (a last record whose pages arrived only in part is a checksum
 * error to it).
 */
final class LogCheck {
  private final SortedMap<Long, Long> wholeLengths = new TreeMap<>();
  private Path torn;
  private long wholeLength;

  private LogCheck() {}

  /**
   * Reads all logs of a RocksDB folder and changes nothing.
   *
   * @throws DamagedLogException if more than the end of the newest log is missing or broken
   */
  static LogCheck of(Path folder) throws IOException, DamagedLogException {
    LogCheck check = new LogCheck();
    for (Map.Entry<Long, Path> log : LogFiles.in(folder).entrySet()) {
      check.add(log.getKey(), log.getValue());
    }
    return check;
  }

  private void add(long number, Path log) throws IOException, DamagedLogException {
    if (torn != null) {
      throw DamagedLogException.broken(torn, wholeLength);
    }
    LogFile file = LogFile.read(log);
    long whole = file.wholeLength();
    wholeLengths.put(number, whole);
    if (whole == file.length()) {
      return;
    }
    if (file.hasRecordBehind(whole) || file.stopsAtRecycled()) {
      throw DamagedLogException.broken(log, whole);
    }
    torn = log;
    wholeLength = whole;
  }

  /**
   * Compares the logs with what is known to have been in them.
   *
   * @param oldestNeeded the number of the first log that is not written out to tables
   * @throws DamagedLogException if one is missing or shorter than it was
   */
  void require(LogRecord record, long oldestNeeded) throws DamagedLogException {
    for (Map.Entry<Long, Long> log : record.lengths().tailMap(oldestNeeded).entrySet()) {
      String name = LogFiles.name(log.getKey());
      Long whole = wholeLengths.get(log.getKey());
      if (whole == null) {
        throw DamagedLogException.missing(name, log.getValue());
      }
      if (whole < log.getValue()) {
        throw DamagedLogException.shorter(name, whole, log.getValue());
      }
    }
  }

  /** Cuts off the torn record, if there is one, so that what is left is whole. */
  void cutTornRecord() throws IOException {
    if (torn == null) {
      return;
    }
    try (FileChannel channel = FileChannel.open(torn, StandardOpenOption.WRITE)) {
      channel.truncate(wholeLength);
      channel.force(true);
    }
  }
}
