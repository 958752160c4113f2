package lectus.store.embedded.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Short files that survive a loss of power. */
final class DurableFile {
  private DurableFile() {}

  /** Writes a file; whole once this returns. Its name is durable with its directory. */
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

  /** As {@link #write}; a crash leaves the former content or the new one, whole. */
  static void replace(Path file, String content) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".new");
    write(temporary, content);
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** What is in a file; nothing if that is more than {@code maxBytes}. */
  static String readShort(Path file, int maxBytes) throws IOException {
    return Files.size(file) > maxBytes ? "" : Files.readString(file, StandardCharsets.ISO_8859_1);
  }

  /** Makes names that were added or replaced durable. */
  static void syncDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
