package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;

/** The names of RocksDB's write-ahead logs: a number of six digits or more and {@code .log}. */
public final class LogNames {
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
