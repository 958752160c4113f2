package lectus.store.embedded.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Notes, after each sync, how long the newest log file is. Nothing may be written meanwhile. */
final class LogTracker {
  private static final String SUFFIX = ".log";

  private final Path folder;
  private volatile SyncedLog synced;

  LogTracker(Path folder) {
    this.folder = folder;
  }

  SyncedLog synced() {
    return synced;
  }

  void noteSynced() {
    try (Stream<Path> files = Files.list(folder)) {
      Path newest =
          files
              .filter(file -> file.getFileName().toString().endsWith(SUFFIX))
              .max(Comparator.comparing(Path::getFileName))
              .orElseThrow();
      synced = new SyncedLog(newest, Files.size(newest));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
