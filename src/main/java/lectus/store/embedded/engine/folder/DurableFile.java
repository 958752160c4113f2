package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Writes short files that survive a power loss. */
public final class DurableFile {
  public static final Set<OpenOption> WRITING =
      Set.of(
          StandardOpenOption.CREATE,
          StandardOpenOption.TRUNCATE_EXISTING,
          StandardOpenOption.WRITE);

  private DurableFile() {}

  /**
   * Returns the attribute with which a file or folder of the store is made: only its owner may read
   * it, because the hashes of passwords are among the data. Empty where there are no permissions.
   *
   * @param permissions as {@code ls} shows them
   */
  public static FileAttribute<?>[] permissions(Path near, String permissions) {
    return hasPermissions(near)
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : new FileAttribute<?>[0];
  }

  public static boolean hasPermissions(Path near) {
    return near.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /** Opens a file for writing, and creates it if it is missing. */
  public static FileChannel open(Path file, Set<? extends OpenOption> options) throws IOException {
    return FileChannel.open(file, options, permissions(file, "rw-------"));
  }

  /** Writes a file, which is durable when this returns. Its name is durable with its directory. */
  static void write(Path file, String content) throws IOException {
    try (FileChannel channel = open(file, WRITING)) {
      ByteBuffer bytes = StandardCharsets.ISO_8859_1.encode(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
  }

  /**
   * Like {@link #write}, but replaces atomically: a crash leaves the old content or the new, whole.
   */
  public static void replace(Path file, String content) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".new");
    write(temporary, content);
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Returns a file's content, or nothing if it exceeds {@code maxBytes}. */
  static String readShort(Path file, int maxBytes) throws IOException {
    return Files.size(file) > maxBytes ? "" : Files.readString(file, StandardCharsets.ISO_8859_1);
  }

  /** Makes added or replaced names durable. */
  public static void syncDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
