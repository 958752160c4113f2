package lectus.store.embedded.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The files of a store's RocksDB, as they are on disk. */
final class RocksFiles {
  private RocksFiles() {}

  /**
   * Returns the bytes of all files whose names end so.
   *
   * @param folder the store's
   */
  static long bytes(Path folder, String suffix) {
    try (Stream<Path> files = Files.list(folder.resolve("rocks"))) {
      return files
          .filter(file -> file.toString().endsWith(suffix))
          .mapToLong(RocksFiles::bytes)
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long bytes(Path file) {
    try {
      return Files.size(file);
    } catch (NoSuchFileException goneMeanwhile) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
