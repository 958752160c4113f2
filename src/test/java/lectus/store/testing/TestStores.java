package lectus.store.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.apple.foundationdb.directory.DirectoryLayer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import lectus.store.Awaiting;
import lectus.store.EmbeddedStores;
import lectus.store.FoundationDbStore;
import lectus.store.Store;
import lectus.store.StoreDirectories;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Stores for tests, on the configured backend: {@code lectus.test.store} is {@code embedded} (a
 * store in a temporary folder that the tests of one class share) or {@code foundationdb} (the
 * cluster of {@code lectus.test.cluster-file}). Either way every {@link #fresh} store is an empty
 * directory of its own that is removed after the class.
 *
 * <pre>{@code
 * @RegisterExtension static final TestStores stores = new TestStores();
 * private final Store store = stores.fresh();
 * }</pre>
 */
public final class TestStores implements BeforeAllCallback, AfterAllCallback {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(TestStores.class);

  private final List<Store> handedOut = new ArrayList<>();
  private final Consumer<Store> lastCheck;
  private final boolean isOnCluster;
  private ScratchFolder folder;
  private Store shared;
  private int nesting;

  public TestStores() {
    this(store -> {}, isCluster());
  }

  private TestStores(Consumer<Store> lastCheck, boolean isOnCluster) {
    this.lastCheck = lastCheck;
    this.isOnCluster = isOnCluster;
  }

  /** Returns stores that each must pass the check after all tests of the class. */
  public static TestStores endingWith(Consumer<Store> lastCheck) {
    return new TestStores(lastCheck, isCluster());
  }

  /** Returns stores that are embedded, whatever this run is configured for. */
  public static TestStores alwaysEmbedded() {
    return new TestStores(store -> {}, false);
  }

  /** Returns whether this run is configured for a cluster. */
  public static boolean isCluster() {
    return switch (System.getProperty("lectus.test.store", "embedded")) {
      case "embedded" -> false;
      case "foundationdb" -> true;
      default -> throw new IllegalStateException("lectus.test.store: embedded or foundationdb");
    };
  }

  /** Skips the rest of the test on a cluster. */
  public static void onlyEmbedded() {
    assumeTrue(!isCluster(), "only on the embedded store");
  }

  /** Skips the rest of the test on the embedded store. */
  public static void onlyCluster() {
    assumeTrue(isCluster(), "only on a FoundationDB cluster");
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    if (nesting++ == 0) {
      shared = isOnCluster ? cluster(context) : embedded();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (--nesting > 0) {
      return;
    }
    try {
      handedOut.forEach(lastCheck);
    } finally {
      remove();
    }
  }

  private void remove() {
    if (isOnCluster) {
      handedOut.forEach(TestCluster::remove);
    } else {
      shared.close();
      folder.delete();
    }
    handedOut.clear();
  }

  /** Returns an empty store. It needs no closing. */
  public Store fresh() {
    if (shared == null) {
      throw new IllegalStateException("Register TestStores in a static field");
    }
    List<String> path = new ArrayList<>(shared.directory().getPath());
    path.add(UUID.randomUUID().toString());
    Store store = StoreDirectories.open(shared, path);
    handedOut.add(store);
    return store;
  }

  private Store embedded() {
    folder = ScratchFolder.create();
    return EmbeddedStores.open(folder.path());
  }

  /** Returns the one cluster for all classes: a process can connect only once. */
  private static Store cluster(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent("cluster", key -> TestCluster.open(), TestCluster.class)
        .store();
  }

  /** A temporary folder that outlives one test. */
  record ScratchFolder(Path path) {

    static ScratchFolder create() {
      try {
        return new ScratchFolder(Files.createTempDirectory("lectus-test"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void delete() {
      try {
        Files.walkFileTree(path, new Deletion());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static final class Deletion extends SimpleFileVisitor<Path> {
      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
          throws IOException {
        Files.delete(file);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path folder, IOException failure)
          throws IOException {
        Files.delete(folder);
        return FileVisitResult.CONTINUE;
      }
    }
  }

  /**
   * The cluster that a test run shares, and the run's own directory there, which is removed at the
   * end. The rest of the cluster is left alone.
   */
  private record TestCluster(Store store) implements AutoCloseable {
    private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(10);

    static TestCluster open() {
      Path clusterFile = Path.of(System.getProperty("lectus.test.cluster-file", ""));
      List<String> directory = List.of("lectus-test-" + UUID.randomUUID());
      return new TestCluster(FoundationDbStore.open(clusterFile, ANSWERS_WITHIN, directory));
    }

    /** Deletes a store's directory with all its content, or gives up after a while. */
    static void remove(Store store) {
      List<String> path = store.directory().getPath();
      // A transaction with an id of its own would leave a key where the directory was.
      new TransactionRunner(store, TransactionLimits.DEFAULT)
          .runIdempotent(tx -> Awaiting.await(new DirectoryLayer().removeIfExists(tx, path)));
    }

    @Override
    public void close() {
      remove(store);
      store.close();
    }
  }
}
