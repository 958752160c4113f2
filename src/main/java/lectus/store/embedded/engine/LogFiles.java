package lectus.store.embedded.engine;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;

/** RocksDB's write-ahead logs by their names: a number of six digits or more, {@code .log}. */
final class LogFiles {
  /** A longer number is no number of RocksDB's. */
  private static final String NAME = "\\d{1,18}\\.log";

  private LogFiles() {}

  /** The logs in RocksDB's folder by their numbers, which only rise, so the oldest comes first. */
  static SortedMap<Long, Path> in(Path folder) throws IOException {
    SortedMap<Long, Path> logs = new TreeMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, LogFiles::isLog)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        logs.put(Long.parseLong(name.substring(0, name.indexOf('.'))), file);
      }
    }
    return logs;
  }

  static String name(long number) {
    return String.format("%06d.log", number);
  }

  private static boolean isLog(Path file) {
    return file.getFileName().toString().matches(NAME);
  }
}
