package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import lectus.store.embedded.engine.folder.LogTracker.LogNames;

/**
 * Decides, before RocksDB reads the logs, whether they may be recovered. The newest log may end in
 * a torn record, which was never acknowledged. RocksDB's own tolerance is too wide: it also accepts
 * a shortened older log, zeroed blocks and a damaged length near the end, and does not notice a
 * missing log. It is also too narrow: a last record whose pages arrived only in part is a checksum
 * error.
 */
public final class LogCheck {
  private final SortedMap<Long, Long> wholeLengths = new TreeMap<>();
  private Path torn;
  private long wholeLength;

  private LogCheck() {}

  /**
   * Reads all logs of a RocksDB folder and changes nothing.
   *
   * @throws DamagedLogException if more than the end of the newest log is missing or broken
   */
  public static LogCheck of(Path folder) throws IOException, DamagedLogException {
    LogCheck check = new LogCheck();
    for (Map.Entry<Long, Path> log : LogNames.in(folder).entrySet()) {
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
    if (whole == file.bytes.limit()) {
      return;
    }
    if (file.hasRecordBehind(whole) || file.stopsAtRecycled()) {
      throw DamagedLogException.broken(log, whole);
    }
    torn = log;
    wholeLength = whole;
  }

  /**
   * Compares the logs with the record of their contents.
   *
   * @param oldestNeeded the number of the first log that is not flushed to tables
   * @throws DamagedLogException if a log is missing or shorter than it was
   */
  public void require(LogRecord record, long oldestNeeded) throws DamagedLogException {
    for (Map.Entry<Long, Long> log : record.lengths().tailMap(oldestNeeded).entrySet()) {
      String name = LogNames.name(log.getKey());
      Long whole = wholeLengths.get(log.getKey());
      if (whole == null) {
        throw DamagedLogException.missing(name, log.getValue());
      }
      if (whole < log.getValue()) {
        throw DamagedLogException.shorter(name, whole, log.getValue());
      }
    }
  }

  /** Cuts off the torn record, if there is one, so that the rest is whole. */
  public void cutTornRecord() throws IOException {
    if (torn == null) {
      return;
    }
    try (FileChannel channel = FileChannel.open(torn, StandardOpenOption.WRITE)) {
      channel.truncate(wholeLength);
      channel.force(true);
    }
  }

  /** A write-ahead log is damaged beyond a torn last record. */
  public static final class DamagedLogException extends Exception {
    private static final long serialVersionUID = 1L;

    private DamagedLogException(String log, String trouble) {
      super("the write-ahead log " + log + " " + trouble);
    }

    static DamagedLogException broken(Path log, long offset) {
      return new DamagedLogException(
          String.valueOf(log.getFileName()), "is broken at byte " + offset);
    }

    static DamagedLogException missing(String log, long recorded) {
      return new DamagedLogException(
          log, "is missing, of which " + recorded + " bytes had been synced");
    }

    static DamagedLogException shorter(String log, long found, long recorded) {
      return new DamagedLogException(
          log, "ends after " + found + " of the " + recorded + " bytes that had been synced");
    }
  }
}
