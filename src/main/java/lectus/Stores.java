package lectus;

import java.nio.file.Path;
import java.time.Duration;
import lectus.server.MemoryPlan;
import lectus.server.StorePlan;
import lectus.store.EmbeddedStores;
import lectus.store.FoundationDbStore;
import lectus.store.Store;
import lectus.store.embedded.EmbeddedOptions;

/** Opens the store that the configuration chooses. */
final class Stores {
  /** Leaves the process time to start and to say so, all within ten seconds. */
  private static final Duration CLUSTER_TIMEOUT = Duration.ofSeconds(7);

  private Stores() {}

  /**
   * @throws lectus.error.StoreOpenException one sentence why it cannot be opened
   */
  static Store open(Configuration configuration) {
    return isEmbedded(configuration)
        ? EmbeddedStores.open(Path.of(configuration.get(Keys.DATA)), options(configuration))
        : FoundationDbStore.open(
            clusterFile(configuration), CLUSTER_TIMEOUT, configuration.get(Keys.DIRECTORY));
  }

  /**
   * Opens it so that nothing can be written, not even by opening it.
   *
   * @throws lectus.error.StoreOpenException one sentence why it cannot be opened
   */
  static Store openReadOnly(Configuration configuration) {
    return isEmbedded(configuration)
        ? EmbeddedStores.openReadOnly(Path.of(configuration.get(Keys.DATA)))
        : FoundationDbStore.openReadOnly(
            clusterFile(configuration), CLUSTER_TIMEOUT, configuration.get(Keys.DIRECTORY));
  }

  private static EmbeddedOptions options(Configuration configuration) {
    MemoryPlan memory = Settings.memory(configuration);
    StorePlan plan = Settings.store(configuration);
    return EmbeddedOptions.defaults()
        .withLimits(memory.conflictHistory(), memory.queuedCommits())
        .withMemory(plan.cache(), plan.memtable(), plan.openFiles())
        .withReserve(configuration.get(Keys.STORE_RESERVED_BYTES));
  }

  private static boolean isEmbedded(Configuration configuration) {
    return configuration.get(Keys.STORE).equals("embedded");
  }

  private static Path clusterFile(Configuration configuration) {
    String clusterFile = configuration.get(Keys.CLUSTER_FILE);
    if (clusterFile.isEmpty()) {
      throw new ConfigurationException("The store \"foundationdb\" needs a --cluster-file.");
    }
    return Path.of(clusterFile);
  }
}
