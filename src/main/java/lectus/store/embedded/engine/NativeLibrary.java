package lectus.store.embedded.engine;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import lectus.error.StoreOpenException;
import lectus.metrics.PackedLibrary;
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
   * Returns a folder with the library; empty if nothing can be kept there.
   *
   * @param parent a folder of this user or of root; by default one among the temporary files
   */
  static Optional<Path> unpacked(Optional<String> parent) {
    // In a folder that it is given, RocksDB looks for its own name and not for the packed one.
    return PackedLibrary.unpacked(
            Optional.ofNullable(
                RocksDB.class
                    .getClassLoader()
                    .getResource(org.rocksdb.util.Environment.getJniLibraryFileName("rocksdb"))),
            parent,
            "rocksdb",
            org.rocksdb.util.Environment.getJniLibraryFileName("rocksdbjni"))
        .map(Path::getParent);
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
