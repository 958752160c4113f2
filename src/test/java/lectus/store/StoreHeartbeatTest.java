package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.FaultyStore.Fault;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.RocksEngine;
import lectus.store.testing.FaultyEngine;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What a server reports of its store when asked for its health. */
final class StoreHeartbeatTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @RegisterExtension static final TestStores stores = new TestStores();

  @TempDir private Path folder;

  private final AtomicLong nanoTime = new AtomicLong();

  private StoreHeartbeat pulse(Store store, Duration patience) {
    return new StoreHeartbeat(store.database(), store.rootPrefix(), patience, nanoTime::get);
  }

  private static Optional<String> answer(StoreHeartbeat pulse) {
    return pulse.ask().orTimeout(30, TimeUnit.SECONDS).join();
  }

  @Test
  void a_store_that_works_has_nothing_written_to_it() {
    Store store = stores.fresh();
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    int before = keys(transactions, store);

    assertThat(answer(new StoreHeartbeat(store))).isEmpty();
    assertThat(keys(transactions, store)).isEqualTo(before);
  }

  private static int keys(TransactionRunner transactions, Store store) {
    return transactions.read(
        tx -> Awaiting.await(tx.getRange(store.directory().range()).asList()).size());
  }

  @Test
  void the_store_is_tried_once_a_second_however_many_ask() {
    FaultyStore store = new FaultyStore(stores.fresh());
    int before = store.commits();
    StoreHeartbeat pulse = pulse(store.store(), LONG);
    for (int i = 0; i < 100; i++) {
      assertThat(answer(pulse)).isEmpty();
    }
    assertThat(store.commits()).isEqualTo(before + 1);

    nanoTime.addAndGet(Duration.ofMillis(999).toNanos());
    assertThat(answer(pulse)).isEmpty();
    assertThat(store.commits()).isEqualTo(before + 1);

    nanoTime.addAndGet(Duration.ofMillis(1).toNanos());
    assertThat(answer(pulse)).isEmpty();
    assertThat(store.commits()).isEqualTo(before + 2);
  }

  @Test
  void a_store_that_refuses_commits_is_not_well_until_it_takes_them_again() {
    FaultyStore store = new FaultyStore(stores.fresh());
    StoreHeartbeat pulse = pulse(store.store(), LONG);
    store.plan(Fault.IO_ERROR);

    assertThat(answer(pulse)).contains("The store does not work; the log says why.");
    nanoTime.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(answer(pulse)).isEmpty();
  }

  @Test
  void a_store_that_has_just_recovered_is_well() {
    FaultyStore store = new FaultyStore(stores.fresh());
    StoreHeartbeat pulse = pulse(store.store(), LONG);
    store.plan(Fault.UNKNOWN_AND_LOST);

    assertThat(answer(pulse)).isEmpty();
  }

  @Test
  void a_store_that_recovers_again_and_again_does_not_answer() {
    FaultyStore store = new FaultyStore(stores.fresh());
    StoreHeartbeat pulse = pulse(store.store(), LONG);
    store.plan(Fault.UNKNOWN_AND_LOST, Fault.UNKNOWN_AND_LOST);

    assertThat(answer(pulse)).contains("The store does not answer.");
  }

  @Test
  void a_silent_store_is_waited_for_only_so_long() {
    EmbeddedOptions options = EmbeddedOptions.defaults();
    FaultyEngine silent =
        new FaultyEngine(
            RocksEngine.open(folder, options.engine()),
            (sound, request) -> new CompletableFuture<>());
    try (EmbeddedDatabase database = EmbeddedDatabase.on(silent, options)) {
      StoreHeartbeat pulse =
          new StoreHeartbeat(database, new byte[0], Duration.ofMillis(20), nanoTime::get);

      assertThat(answer(pulse)).contains("The store does not answer.");
    }
  }

  @Test
  void a_closed_store_is_not_well() {
    Store store = EmbeddedStores.open(folder);
    StoreHeartbeat pulse = new StoreHeartbeat(store);
    store.close();

    assertThat(answer(pulse)).contains("The store does not work; the log says why.");
  }
}
