package lectus.store.embedded.engine;

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
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.CRC32;
import lectus.error.StoreOpenException;
import org.rocksdb.RocksDB;

/**
 * RocksDB's native library. The packaged jar carries it for the platforms that {@link #isCarried}
 * knows and no others, because each takes about six megabytes. On other platforms a library in
 * {@code java.library.path} works.
 */
final class NativeLibrary {
  private static final Set<String> X86_64 = Set.of("amd64", "x86_64");
  private static final Set<String> ARM64 = Set.of("aarch64", "arm64");

  /** RocksDB's own variable for the folder that it unpacks to. */
  private static final String FOLDER_VARIABLE = "ROCKSDB_SHAREDLIB_DIR";

  private static final FileAttribute<?> OWNERS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final Integer ROOT = 0;

  /** Owned by the user of this process. Linux has it; elsewhere nothing is kept. */
  private static final Path SELF = Path.of("/proc/self");

  private NativeLibrary() {}

  /**
   * Loads the library into this process unless it is loaded already.
   *
   * @throws StoreOpenException with one sentence that says why it cannot be loaded
   */
  static void load() {
    load(NativeLibrary::loadUnpacked, System.getProperty("os.name"), System.getProperty("os.arch"));
  }

  private static void loadUnpacked() {
    Optional<Path> unpacked = unpacked(Optional.ofNullable(System.getenv(FOLDER_VARIABLE)));
    if (unpacked.isPresent()) {
      try {
        RocksDB.loadLibrary(List.of(unpacked.get().toString()));
        return;
      } catch (UnsatisfiedLinkError notTheLibrary) {
        // RocksDB unpacks another one, for this process alone.
      }
    }
    RocksDB.loadLibrary();
  }

  /**
   * Returns a folder with the library, unpacked by this start or by an earlier one. Its name says
   * which library it is, so versions do not meet. Empty if nothing can be kept there, or others
   * could have written it; then RocksDB unpacks the library for this process alone.
   *
   * @param parent a folder of this user or of root; by default one among the temporary files
   */
  static Optional<Path> unpacked(Optional<String> parent) {
    String name = org.rocksdb.util.Environment.getJniLibraryFileName("rocksdb");
    URL packed = RocksDB.class.getClassLoader().getResource(name);
    if (packed == null) {
      return Optional.empty();
    }
    Path mine = Path.of(parent.orElseGet(NativeLibrary::temporary));
    try {
      JarURLConnection connection = (JarURLConnection) packed.openConnection();
      connection.setUseCaches(false);
      try (JarFile jar = connection.getJarFile()) {
        JarEntry entry = connection.getJarEntry();
        Path folder = mine.resolve("rocksdb-%08x".formatted(entry.getCrc()));
        Files.createDirectories(folder, OWNERS_ALONE);
        requireOwn(mine);
        requireOwn(folder);
        // In a folder that it is given, RocksDB looks for its own name and not for the packed one.
        Path library =
            folder.resolve(org.rocksdb.util.Environment.getJniLibraryFileName("rocksdbjni"));
        if (!isWhole(library, entry)) {
          unpack(jar.getInputStream(entry), library);
        }
        return Optional.of(folder.toAbsolutePath());
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

  static void load(Runnable loader, String system, String processor) {
    try {
      loader.run();
    } catch (RuntimeException | LinkageError failure) {
      throw new StoreOpenException(
          isCarried(system, processor) ? refused(failure) : missing(system, processor), failure);
    }
  }

  /** Returns whether the packaged jar has a library for the platform, as Java names it. */
  static boolean isCarried(String system, String processor) {
    String name = system.toLowerCase(Locale.ROOT);
    if (name.startsWith("linux") || name.startsWith("mac os x")) {
      return X86_64.contains(processor) || ARM64.contains(processor);
    }
    return name.startsWith("windows") && X86_64.contains(processor);
  }

  private static String missing(String system, String processor) {
    return "The embedded store runs on Linux and macOS (x86-64 and ARM64) and on Windows (x86-64),"
        + " not on %s (%s); a FoundationDB cluster can be used there (store = foundationdb)."
            .formatted(system, processor);
  }

  private static String refused(Throwable failure) {
    return "RocksDB's library cannot be loaded: %s. It is unpacked to %s; ROCKSDB_SHAREDLIB_DIR names another folder."
        .formatted(reason(failure), System.getProperty("java.io.tmpdir"));
  }

  private static String reason(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String said = String.valueOf(cause.getMessage()).strip();
    return said.endsWith(".") ? said.substring(0, said.length() - 1) : said;
  }
}
