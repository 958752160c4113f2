package lectus.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lectus.config.Configuration;
import lectus.config.ConfiguredStore;
import lectus.store.Store;

/**
 * Opens a store on a thread of its own while the rest of the server gets ready: each takes half of
 * the start.
 */
final class StoreOpening implements AutoCloseable {
  private final Configuration configuration;
  private CompletableFuture<Store> store;

  StoreOpening(Configuration configuration) {
    this.configuration = configuration;
    this.store = begin();
  }

  private CompletableFuture<Store> begin() {
    return CompletableFuture.supplyAsync(
        () -> ConfiguredStore.open(configuration),
        work -> new Thread(work, "lectus-opening").start());
  }

  /**
   * Closes the store and begins to open it anew, if a process can do so. A cluster stays connected:
   * its client library cannot be started twice.
   */
  void openAnew() {
    if (ConfiguredStore.canBeOpenedAnew(configuration)) {
      close();
      store = begin();
    }
  }

  /**
   * Returns the store once it is open.
   *
   * @throws lectus.error.StoreOpenException one sentence why it cannot be opened
   */
  Store await() {
    try {
      return store.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException failure ? failure : e;
    }
  }

  /** Closes the store if it was opened. */
  @Override
  public void close() {
    store.handle((opened, failure) -> opened).thenAccept(StoreOpening::closeIfOpen).join();
  }

  private static void closeIfOpen(Store opened) {
    if (opened != null) {
      opened.close();
    }
  }
}
