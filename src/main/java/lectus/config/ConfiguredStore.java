package lectus.config;

import java.nio.file.Path;
import java.time.Duration;
import lectus.server.MemoryPlan;
import lectus.server.StorePlan;
import lectus.store.EmbeddedStores;
import lectus.store.FoundationDbStore;
import lectus.store.Store;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.EngineOptions;

/** Opens the store that the configuration chooses. */
public final class ConfiguredStore {
  /** Leaves the process time to start and to report the failure, all within ten seconds. */
  private static final Duration CLUSTER_TIMEOUT = Duration.ofSeconds(7);

  private ConfiguredStore() {}

  /**
   * @throws lectus.error.StoreOpenException one sentence why it cannot be opened
   */
  public static Store open(Configuration configuration) {
    return isEmbedded(configuration)
        ? EmbeddedStores.open(Path.of(configuration.get(StoreKeys.DATA)), options(configuration))
        : FoundationDbStore.open(
            clusterFile(configuration), CLUSTER_TIMEOUT, configuration.get(StoreKeys.DIRECTORY));
  }

  /**
   * Opens the store such that nothing can be written, not even by opening it.
   *
   * @throws lectus.error.StoreOpenException one sentence why it cannot be opened
   */
  public static Store openReadOnly(Configuration configuration) {
    return isEmbedded(configuration)
        ? EmbeddedStores.openReadOnly(Path.of(configuration.get(StoreKeys.DATA)))
        : FoundationDbStore.openReadOnly(
            clusterFile(configuration), CLUSTER_TIMEOUT, configuration.get(StoreKeys.DIRECTORY));
  }

  /** Whether a process may open the store again after it has closed it. */
  public static boolean canBeOpenedAnew(Configuration configuration) {
    return isEmbedded(configuration);
  }

  /** Returns where the data is, for people. */
  public static String place(Configuration configuration) {
    return isEmbedded(configuration)
        ? Path.of(configuration.get(StoreKeys.DATA)).toAbsolutePath().normalize().toString()
        : "the cluster of " + configuration.get(StoreKeys.CLUSTER_FILE);
  }

  /** Returns whether opening makes a store that has not been there. */
  public static boolean isNew(Configuration configuration) {
    return isEmbedded(configuration)
        && !EmbeddedStores.isStore(Path.of(configuration.get(StoreKeys.DATA)));
  }

  private static EmbeddedOptions options(Configuration configuration) {
    Settings settings = Settings.of(configuration);
    MemoryPlan memory = settings.memory();
    StorePlan plan = settings.store();
    return EmbeddedOptions.defaults()
        .withEngine(
            EngineOptions.defaults()
                .withLimits(memory.conflictHistory(), memory.queuedCommits())
                .withPointBytes(memory.pointReads())
                .withMemory(plan.cache(), plan.memtable())
                .withOpenFiles(plan.openFiles())
                .withReserve(configuration.get(StoreKeys.STORE_RESERVED_BYTES)));
  }

  private static boolean isEmbedded(Configuration configuration) {
    return configuration.get(StoreKeys.STORE).equals("embedded");
  }

  private static Path clusterFile(Configuration configuration) {
    String clusterFile = configuration.get(StoreKeys.CLUSTER_FILE);
    if (clusterFile.isEmpty()) {
      throw new ConfigurationException("The store \"foundationdb\" needs a --cluster-file.");
    }
    return Path.of(clusterFile);
  }
}
