package lectus.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder below the working directory, and so on the disk to be measured. */
final class BenchFolder implements AutoCloseable {
  private final Path root;

  BenchFolder() {
    try {
      Path parent = Files.createDirectories(Path.of("target", "bench"));
      root = Files.createTempDirectory(parent, "store");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  Path sub(String name) {
    try {
      return Files.createDirectory(root.resolve(name));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    try (Stream<Path> tree = Files.walk(root)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
