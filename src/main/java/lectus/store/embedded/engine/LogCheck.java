package lectus.store.embedded.engine;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * Decides, before RocksDB sees the logs, whether they may be recovered: the newest one may end in a
 * torn record, which was never acknowledged. RocksDB's own tolerance is too wide (it also passes
 * over a shortened older log, zeroed blocks and a damaged length near the end) and too narrow (a
 * last record whose pages arrived only in part is a checksum error to it).
 */
final class LogCheck {
  private static final String LOG_NAME = "\\d+\\.log";

  private final Path torn;
  private final long wholeLength;

  private LogCheck(Path torn, long wholeLength) {
    this.torn = torn;
    this.wholeLength = wholeLength;
  }

  /**
   * Reads all logs of a RocksDB folder and changes nothing.
   *
   * @throws DamagedLogException if more than the end of the newest log is missing or broken
   */
  static LogCheck of(Path folder) throws IOException, DamagedLogException {
    LogCheck check = new LogCheck(null, 0);
    for (Path log : logs(folder)) {
      if (check.torn != null) {
        throw new DamagedLogException(check.torn, check.wholeLength);
      }
      check = check(log);
    }
    return check;
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

  private static LogCheck check(Path log) throws IOException, DamagedLogException {
    LogFile file = LogFile.read(log);
    long whole = file.wholeLength();
    if (whole == file.length()) {
      return new LogCheck(null, 0);
    }
    if (file.hasRecordBehind(whole)) {
      throw new DamagedLogException(log, whole);
    }
    return new LogCheck(log, whole);
  }

  /** Oldest first; the numbers in the names have at least six digits, later ones maybe more. */
  private static List<Path> logs(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().matches(LOG_NAME))
          .sorted((left, right) -> Long.compare(number(left), number(right)))
          .toList();
    }
  }

  private static long number(Path log) {
    String name = log.getFileName().toString();
    return Long.parseLong(name.substring(0, name.indexOf('.')));
  }
}
