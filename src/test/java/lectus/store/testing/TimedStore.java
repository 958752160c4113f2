package lectus.store.testing;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.EmbeddedStores;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.EngineOptions;
import lectus.store.embedded.engine.TestOptions;

/** An embedded store whose time the test moves on. */
public final class TimedStore implements AutoCloseable {
  private final AtomicLong micros = new AtomicLong(1_000_000_000L);
  public final Store store;

  public TimedStore(Path folder) {
    this.store =
        EmbeddedStores.open(
            folder,
            EmbeddedOptions.defaults()
                .withEngine(EngineOptions.defaults().with(TestOptions.clock(micros::get))));
  }

  /** Moves the clock on; the versions follow with the next commit. */
  public void passUnnoticed(long seconds) {
    micros.addAndGet(seconds * 1_000_000);
  }

  /** Moves the clock on and commits, which takes a version of the new time. */
  public void pass(long seconds) {
    passUnnoticed(seconds);
    new TransactionRunner(store, TransactionLimits.DEFAULT)
        .runIdempotent(
            tx -> {
              TransactionRunner.freesSpace(tx);
              tx.addWriteConflictKey(RootSubspace.LEASES.key(store.rootPrefix()).toBytes());
              return null;
            });
  }

  @Override
  public void close() {
    store.close();
  }
}
