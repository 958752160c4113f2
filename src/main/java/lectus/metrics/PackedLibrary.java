package lectus.metrics;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.CRC32;

/** A native library of a jar, unpacked once for all starts instead of once for each. */
public final class PackedLibrary {
  private static final FileAttribute<?> OWNERS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final Integer ROOT = 0;

  /** Owned by the user of this process. Linux has it; elsewhere nothing is kept. */
  private static final Path SELF = Path.of("/proc/self");

  private PackedLibrary() {}

  /**
   * Returns the library's file, unpacked by this start or by an earlier one. The name of its folder
   * says which library it is, so versions do not meet. Empty if there is none, nothing can be kept
   * there, or others could have written it.
   *
   * @param packed in a jar
   * @param parent a folder of this user or of root; by default one among the temporary files
   * @param name of the folder, before its version
   * @param file the library's name in it
   */
  public static Optional<Path> unpacked(
      Optional<URL> packed, Optional<String> parent, String name, String file) {
    Path mine = Path.of(parent.orElseGet(PackedLibrary::temporary));
    try {
      if (packed.isEmpty()
          || !(packed.get().openConnection() instanceof JarURLConnection connection)) {
        return Optional.empty();
      }
      connection.setUseCaches(false);
      try (JarFile jar = connection.getJarFile()) {
        JarEntry entry = connection.getJarEntry();
        Path folder = mine.resolve(name + "-%08x".formatted(entry.getCrc()));
        Files.createDirectories(folder, OWNERS_ALONE);
        requireOwn(mine);
        requireOwn(folder);
        Path library = folder.resolve(file);
        if (!isWhole(library, entry)) {
          unpack(jar.getInputStream(entry), library);
        }
        return Optional.of(library.toAbsolutePath());
      }
    } catch (IOException | RuntimeException unusual) {
      return Optional.empty();
    }
  }

  private static String temporary() {
    return System.getProperty("java.io.tmpdir") + "/lectus-" + System.getProperty("user.name");
  }

  /** The sum over all bytes takes some 15 ms, as the file is mapped. */
  private static boolean isWhole(Path library, JarEntry entry) throws IOException {
    if (!Files.exists(library) || Files.size(library) != entry.getSize()) {
      return false;
    }
    CRC32 sum = new CRC32();
    try (FileChannel content = FileChannel.open(library)) {
      sum.update(content.map(FileChannel.MapMode.READ_ONLY, 0, entry.getSize()));
    }
    return sum.getValue() == entry.getCrc();
  }

  /** Servers that start at the same time replace each other's file by the same one. */
  private static void unpack(InputStream packed, Path library) throws IOException {
    Path temporary = Files.createTempFile(library.getParent(), "new", ".tmp");
    try (InputStream content = packed) {
      Files.copy(content, temporary, StandardCopyOption.REPLACE_EXISTING);
      try (FileChannel written = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
        written.force(true);
      }
      Files.move(temporary, library, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  /** Code is loaded from there: it has to be a folder that this user or root made, not a link. */
  private static void requireOwn(Path folder) throws IOException {
    Set<PosixFilePermission> open =
        Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS);
    Object owner = Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    boolean isOpen =
        open.contains(PosixFilePermission.GROUP_WRITE)
            || open.contains(PosixFilePermission.OTHERS_WRITE);
    if (isOpen
        || !Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
        || !(owner.equals(ROOT) || owner.equals(Files.getAttribute(SELF, "unix:uid")))) {
      throw new AccessDeniedException(folder.toString());
    }
  }
}
