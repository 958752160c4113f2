package lectus.store.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A real file system of a few megabytes in memory, which can fill up. Linux, as root. */
public final class SmallDisk implements AutoCloseable {
  private static final int BLOCK = 4096;

  private final Path folder;
  private final Path filling;

  private SmallDisk(Path folder) {
    this.folder = folder;
    this.filling = folder.resolve("filling");
  }

  /** Mounts a disk. Skips the test without the right to do so. */
  public static SmallDisk mount(Path folder, int megabytes) {
    try {
      Files.createDirectories(folder);
      assumeTrue(
          succeeds("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", folder),
          "needs the right to mount a file system");
      return new SmallDisk(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the folder for a store. */
  public Path data() {
    return folder.resolve("data");
  }

  public long free() {
    try {
      return Files.getFileStore(folder).getUsableSpace();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Takes space until {@code left} bytes are free, to within a block. */
  public void fillUpTo(long left) {
    try (FileChannel channel =
        FileChannel.open(filling, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      ByteBuffer block = ByteBuffer.allocate(BLOCK);
      while (free() - BLOCK >= left) {
        channel.write(block.clear());
      }
    } catch (IOException full) {
      // No space is left.
    }
  }

  /** Releases the taken space. */
  public void clear() {
    try {
      Files.deleteIfExists(filling);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Unmounts it. Open files keep it alive until they are closed. */
  @Override
  public void close() {
    succeeds("umount", "-l", folder);
  }

  private static boolean succeeds(Object... command) {
    String[] words = new String[command.length];
    for (int i = 0; i < words.length; i++) {
      words[i] = command[i].toString();
    }
    try {
      return new ProcessBuilder(words)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException none) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
