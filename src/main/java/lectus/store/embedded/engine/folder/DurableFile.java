package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Writes short files that survive a power loss. */
final class DurableFile {
  private DurableFile() {}

  /** Writes a file, which is durable when this returns. Its name is durable with its directory. */
  static void write(Path file, String content) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
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
  static void replace(Path file, String content) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".new");
    write(temporary, content);
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Returns a file's content, or nothing if it exceeds {@code maxBytes}. */
  static String readShort(Path file, int maxBytes) throws IOException {
    return Files.size(file) > maxBytes ? "" : Files.readString(file, StandardCharsets.ISO_8859_1);
  }

  /** Makes added or replaced names durable. */
  static void syncDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
