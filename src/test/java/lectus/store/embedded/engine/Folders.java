package lectus.store.embedded.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Copies, damages and compares data folders. */
final class Folders {
  private Folders() {}

  /** Returns every path below {@code root} with a hash of its content. */
  static Map<String, Integer> fingerprint(Path root) {
    Map<String, Integer> files = new TreeMap<>();
    try (Stream<Path> tree = Files.walk(root)) {
      for (Path path : tree.toList()) {
        int hash = Files.isDirectory(path) ? 0 : Arrays.hashCode(Files.readAllBytes(path));
        files.put(root.relativize(path).toString(), hash);
      }
      return files;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Copies a folder, which may be in use: a draft that its owner renames meanwhile is left out. */
  static void copy(Path from, Path to) {
    try {
      Files.walkFileTree(from, new Copying(from, to));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static void delete(Path root) {
    try (Stream<Path> tree = Files.exists(root) ? Files.walk(root) : Stream.empty()) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static void truncate(Path file, long length) {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static void append(Path file, byte[] bytes) {
    try {
      Files.write(file, bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static void write(Path file, String content) {
    try {
      Files.writeString(file, content);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Overwrites {@code length} bytes from {@code offset} with zeros. */
  static void zero(Path file, long offset, int length) {
    try {
      byte[] bytes = Files.readAllBytes(file);
      Arrays.fill(bytes, (int) offset, (int) offset + length, (byte) 0);
      Files.write(file, bytes);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static void flipBit(Path file, long offset) {
    try {
      byte[] bytes = Files.readAllBytes(file);
      bytes[(int) offset] ^= 1;
      Files.write(file, bytes);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static long length(Path file) {
    try {
      return Files.size(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static final class Copying extends SimpleFileVisitor<Path> {
    private final Path from;
    private final Path to;

    Copying(Path from, Path to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
        throws IOException {
      Files.createDirectories(target(folder));
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      if (!isDraft(file)) {
        Files.copy(file, target(file), StandardCopyOption.REPLACE_EXISTING);
      }
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
      if (isDraft(file)) {
        return FileVisitResult.CONTINUE;
      }
      throw failure;
    }

    private static boolean isDraft(Path file) {
      return file.getFileName().toString().endsWith(".new");
    }

    private Path target(Path path) {
      return to.resolve(from.relativize(path).toString());
    }
  }
}
