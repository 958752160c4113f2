package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lectus.error.StoreOpenException;
import lectus.store.FaultyStore.Fault;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.RocksEngine;
import lectus.store.testing.FaultyEngine;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class StoreTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  @TempDir private Path folder;
  private static final Duration ONE_SECOND = Duration.ofSeconds(1);
  private static final Duration LONG = Duration.ofSeconds(30);

  private final AtomicLong nanoTime = new AtomicLong();

  @Test
  void a_store_keeps_its_id_and_its_place() {
    TestStores.onlyEmbedded();
    String id;
    byte[] prefix;
    try (Store store = EmbeddedStores.open(folder)) {
      id = store.id();
      prefix = store.rootPrefix();
    }
    assertThat(id).matches("[0-9a-f]{32}");
    try (Store again = EmbeddedStores.open(folder)) {
      assertThat(again.id()).isEqualTo(id);
      assertThat(again.rootPrefix()).isEqualTo(prefix).isNotEmpty();
      assertThat(again.mayAnswerUnknownResult()).isFalse();
    }
  }

  @Test
  void a_directory_is_a_store_of_its_own() {
    Store store = stores.fresh();
    Store other = stores.fresh();
    assertThat(store.id()).isNotEqualTo(other.id());
    assertThat(store.rootPrefix()).isNotEqualTo(other.rootPrefix());
    Store same = StoreDirectories.open(store, store.directory().getPath());
    assertThat(same.id()).isEqualTo(store.id());
    assertThat(same.rootPrefix()).isEqualTo(store.rootPrefix());
    same.close();
  }

  @Test
  void a_folder_of_something_else_is_left_alone() throws Exception {
    TestStores.onlyEmbedded();
    Path file = folder.resolve("letter.txt");
    Files.writeString(file, "Dear reader");
    assertThatThrownBy(() -> EmbeddedStores.open(folder))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageEndingWith(".");
    assertThat(folder).isDirectoryContaining(file::equals);
    try (var entries = Files.list(folder)) {
      assertThat(entries).hasSize(1);
    }
  }

  @Test
  void a_store_of_an_earlier_build_is_refused_and_left_alone() {
    Store store = stores.fresh();
    byte[] key = StoreIdentity.key(store.rootPrefix());
    TransactionRunner runner = new TransactionRunner(store, TransactionLimits.DEFAULT);
    byte[] former = new byte[17];
    former[0] = 1;
    runner.run(
        tx -> {
          tx.set(RootSubspace.STORE_ID.key(store.rootPrefix()).string("id").toBytes(), former);
          tx.clear(key);
          return null;
        });
    assertThatThrownBy(() -> StoreDirectories.open(store, store.directory().getPath()))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageStartingWith("The store was written by an earlier build of Lectus")
        .hasMessageContainingAll("couchbackup", "replication")
        .hasMessageEndingWith(".");
    assertThat(runner.<byte[]>read(tx -> Awaiting.await(tx.get(key)))).isNull();
  }

  @Test
  void a_store_of_a_newer_version_is_refused() {
    Store store = stores.fresh();
    byte[] newer = new byte[17];
    newer[0] = 2;
    new TransactionRunner(store, TransactionLimits.DEFAULT)
        .run(
            tx -> {
              tx.set(StoreIdentity.key(store.rootPrefix()), newer);
              return null;
            });
    assertThatThrownBy(() -> StoreDirectories.open(store, store.directory().getPath()))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining(
            "newer version of Lectus: it has format 2, this version reads up to 1");
  }

  @Test
  void a_store_that_is_open_for_reading_refuses_to_be_written() {
    TestStores.onlyEmbedded();
    assertThatThrownBy(() -> EmbeddedStores.openReadOnly(folder))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageEndingWith("holds no Lectus store.");
    String id;
    byte[] key;
    try (Store store = EmbeddedStores.open(folder)) {
      id = store.id();
      key = store.directory().pack("key");
    }
    try (Store store = EmbeddedStores.openReadOnly(folder)) {
      TransactionRunner runner = new TransactionRunner(store, TransactionLimits.DEFAULT);
      assertThat(store.id()).isEqualTo(id);
      assertThatThrownBy(() -> runner.run(tx -> write(tx, key)))
          .isInstanceOfSatisfying(FDBException.class, e -> assertThat(e.getCode()).isEqualTo(2000));
      assertThat(runner.<byte[]>read(tx -> Awaiting.await(tx.get(key)))).isNull();
      assertThatThrownBy(() -> EmbeddedStores.open(folder)).isInstanceOf(StoreOpenException.class);
    }
    try (Store store = EmbeddedStores.open(folder)) {
      new TransactionRunner(store, TransactionLimits.DEFAULT).run(tx -> write(tx, key));
    }
  }

  private static Void write(Transaction tx, byte[] key) {
    tx.set(key, new byte[1]);
    return null;
  }

  @Test
  void a_folder_in_use_is_refused() {
    TestStores.onlyEmbedded();
    try (Store store = EmbeddedStores.open(folder)) {
      assertThatThrownBy(() -> EmbeddedStores.open(folder)).isInstanceOf(StoreOpenException.class);
      assertThat(store.id()).isNotEmpty();
    }
  }

  @Test
  void a_missing_cluster_file() {
    Path missing = folder.resolve("fdb.cluster");
    assertThat(failure(missing)).isEqualTo("The cluster file " + missing + " cannot be read.");
  }

  @Test
  void a_folder_is_no_cluster_file() {
    assertThat(failure(folder)).isEqualTo("The cluster file " + folder + " cannot be read.");
  }

  @Test
  void a_file_of_something_else() throws Exception {
    Path file = Files.writeString(folder.resolve("fdb.cluster"), "Dear reader,\n");
    assertThat(failure(file)).containsAnyOf("not installed", "is not a FoundationDB cluster file");
  }

  @Test
  void a_cluster_that_does_not_answer() throws Exception {
    Path file = Files.writeString(folder.resolve("fdb.cluster"), "nobody:home@127.0.0.1:1\n");
    assertThat(failure(file)).containsAnyOf("not installed", "does not answer within 1000 ms");
  }

  private static String failure(Path clusterFile) {
    StoreOpenException failure =
        catchThrowableOfType(
            StoreOpenException.class, () -> FoundationDbStore.open(clusterFile, ONE_SECOND));
    assertThat(failure).isNotNull();
    assertThat(failure.getMessage()).endsWith(".").doesNotContain("\n");
    return failure.getMessage();
  }

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
