package lectus.store.embedded.engine.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** Tests whether files in a folder can be written, synced and opened. */
public final class DiskProbe {
  /** The file's name, beside RocksDB's folder. It is deleted after each test. */
  static final String FILE = "lectus.probe";

  private static final int BYTES = 1 << 20;

  /** As many as opening a store takes before it has any of its tables. */
  private static final int DESCRIPTORS = 32;

  private DiskProbe() {}

  public static boolean passes(Path folder) {
    Path file = folder.resolve(FILE);
    try {
      write(file);
      openOften(file);
      return true;
    } catch (IOException stillTrouble) {
      return false;
    } finally {
      delete(file);
    }
  }

  private static void write(Path file) throws IOException {
    try (FileChannel channel = DurableFile.open(file, DurableFile.WRITING)) {
      ByteBuffer bytes = ByteBuffer.allocate(BYTES);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
  }

  private static void openOften(Path file) throws IOException {
    List<FileChannel> channels = new ArrayList<>();
    try {
      for (int i = 0; i < DESCRIPTORS; i++) {
        channels.add(FileChannel.open(file, StandardOpenOption.READ));
      }
    } finally {
      for (FileChannel channel : channels) {
        channel.close();
      }
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException leftBehind) {
      // The next probe overwrites it.
    }
  }
}
