package lectus.store.testing;

import com.apple.foundationdb.directory.DirectoryLayer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import lectus.store.Awaiting;
import lectus.store.FoundationDbStore;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * The cluster that a test run shares, and the run's own directory there, which is removed at the
 * end. The rest of the cluster is left alone.
 */
record TestCluster(Store store) implements AutoCloseable {
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
