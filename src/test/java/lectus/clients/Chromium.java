package lectus.clients;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/** Locates the browser that tests drive. */
final class Chromium {
  private Chromium() {}

  /** Returns the path in {@code LECTUS_CHROMIUM}, else {@code chromium} on the path. */
  static Optional<Path> find() {
    String named = System.getenv("LECTUS_CHROMIUM");
    if (named != null) {
      return Optional.of(Path.of(named));
    }
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
        .map(folder -> Path.of(folder, "chromium"))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
