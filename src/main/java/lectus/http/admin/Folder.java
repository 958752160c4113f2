package lectus.http.admin;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;

/**
 * A folder of files. Nothing outside of it is found, whatever the names are or symbolic links point
 * to, and nothing that is hidden. Its methods read the disk.
 */
final class Folder {
  static final String INDEX = "index.html";

  private static final String FORBIDDEN_CHARACTERS = "/\\:\0";

  private final Path root;

  Folder(Path root) {
    this.root = root;
  }

  /** What lies below a name. */
  sealed interface Entry permits ServedFile, Subfolder {}

  /** A folder within the folder. */
  record Subfolder() implements Entry {}

  /**
   * @param names from the folder down to the file
   */
  Optional<Entry> find(List<String> names) throws IOException {
    return names.stream().allMatch(Folder::isAllowed) ? look(names) : Optional.empty();
  }

  /** Returns whatever cannot be reached as absent; a name may be longer than the disk allows. */
  private Optional<Entry> look(List<String> names) throws IOException {
    try {
      Path inside = root.toRealPath();
      Path file = inside.resolve(String.join("/", names)).toRealPath();
      return file.startsWith(inside) ? entryAt(file) : Optional.empty();
    } catch (FileSystemException | InvalidPathException absent) {
      return Optional.empty();
    }
  }

  private static Optional<Entry> entryAt(Path file) throws IOException {
    BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
    if (found.isDirectory()) {
      return Optional.of(new Subfolder());
    }
    return found.isRegularFile() && found.size() <= ServedFile.MAX_BYTES
        ? Optional.of(new ServedFile(file, found.size(), found.lastModifiedTime().toInstant()))
        : Optional.empty();
  }

  private static boolean isAllowed(String name) {
    return !name.startsWith(".")
        && name.chars().noneMatch(c -> FORBIDDEN_CHARACTERS.indexOf(c) >= 0);
  }
}
