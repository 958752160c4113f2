package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.Range;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseUpdate;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What compaction leaves, whatever happens during it. */
final class UpdatesCompactionTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final Store store = stores.fresh();
  private final StoreDatabases databases = new StoreDatabases(store);

  @Test
  void of_a_living_database_the_creation_and_the_last_update_stay() {
    databases.create("a");
    databases.create("b");
    for (int i = 0; i < 30; i++) {
      databases.put("a", "x");
      databases.put("b", "x");
    }
    databases.create("never_written");
    List<DatabaseUpdate> before = LogRows.of(store);
    compact(store, 7);
    List<DatabaseUpdate> left = LogRows.of(store);
    assertThat(LogRows.told(store))
        .containsExactly(
            "created a", "created b", "updated a", "updated b", "created never_written");
    assertThat(before).containsAll(left);
    assertThat(left.get(2)).isEqualTo(before.get(60));
  }

  @Test
  void rows_after_a_compaction_are_compacted_with_those_before_it() {
    databases.create("a");
    for (int i = 0; i < 3; i++) {
      databases.put("a", "x");
      databases.put("a", "x");
      compact(store, 100);
      assertThat(LogRows.told(store)).containsExactly("created a", "updated a");
    }
  }

  /** A repair removes that row if it cannot be read. */
  @Test
  void a_store_that_has_lost_how_far_it_is_compacted_loses_no_other_row() {
    databases.create("a");
    databases.put("a", "x");
    databases.create("b");
    databases.delete("b");
    databases.create("b");
    databases.put("b", "x");
    compact(store, 100);
    List<DatabaseUpdate> before = LogRows.of(store);
    byte[] progress = RootSubspace.UPDATE_POINTERS.key(store.rootPrefix()).integer(0).toBytes();
    databases.transactions.run(
        tx -> {
          tx.clear(progress);
          return null;
        });
    compact(store, 2);
    assertThat(LogRows.of(store)).isEqualTo(before);
    databases.put("a", "x");
    databases.delete("b");
    compact(store, 2);
    assertThat(LogRows.told(store)).containsExactly("created a", "updated a", "deleted b");
  }

  @Test
  void of_a_deleted_database_only_its_end_stays() {
    databases.create("kept");
    DatabaseHandle gone = databases.create("gone");
    databases.put("gone", "x");
    compact(store, 100);
    databases.put("gone", "x");
    databases.delete("gone");
    compact(store, 100);
    assertThat(LogRows.told(store)).containsExactly("created kept", "deleted gone");
    assertThat(LogRows.of(store).get(1).joined()).isEqualTo(gone.joined());
    assertThat(pointers()).as("progress, name").isEqualTo(2);
  }

  @Test
  void the_ends_of_several_lives_become_one_that_tells_of_the_first_beginning() {
    DatabaseHandle first = databases.create("a");
    databases.delete("a");
    for (int life = 0; life < 5; life++) {
      databases.create("a");
      databases.put("a", "x");
      databases.delete("a");
      if (life % 2 == 0) {
        compact(store, 100);
      }
    }
    DatabaseHandle last = databases.create("a");
    compact(store, 1);
    List<DatabaseUpdate> left = LogRows.of(store);
    assertThat(LogRows.told(store)).containsExactly("deleted a", "created a");
    assertThat(left.get(0).joined()).isEqualTo(first.joined());
    assertThat(left.get(1).instance()).isEqualTo(last.instance());
  }

  @Test
  void many_updates_leave_one_row_to_read() {
    databases.create("a");
    for (int i = 0; i < 1_000; i++) {
      databases.put("a", "x");
    }
    compact(store);
    assertThat(LogRows.of(store)).hasSize(2);
    assertThat(rowsBelow(RootSubspace.UPDATES)).isEqualTo(2);
    assertThat(pointers()).as("progress, instance").isEqualTo(2);
  }

  @Test
  void a_step_that_fails_leaves_everything_for_the_next() {
    FaultyStore faulty = new FaultyStore(store);
    write();
    List<DatabaseUpdate> before = LogRows.of(store);

    UpdatesCompaction failing = Compactions.of(faulty.store(), 3);
    faulty.plan(FaultyStore.Fault.IO_ERROR);
    assertThatThrownBy(failing::step).hasMessageContaining("IO_ERROR");
    assertThat(LogRows.of(store)).isEqualTo(before);

    failing.step();
    faulty.plan(FaultyStore.Fault.IO_ERROR);
    assertThatThrownBy(failing::step).hasMessageContaining("IO_ERROR");
    compact(store, 3);
    assertThat(LogRows.told(store)).containsExactlyElementsOf(WRITTEN_AND_COMPACTED);
  }

  @Test
  void a_step_whose_result_is_unknown_runs_again() {
    FaultyStore faulty = new FaultyStore(store, true);
    write();
    UpdatesCompaction compaction = Compactions.of(faulty.store(), 3);
    boolean more;
    do {
      faulty.plan(FaultyStore.Fault.UNKNOWN_BUT_STORED, FaultyStore.Fault.UNKNOWN_AND_LOST);
      more = compaction.step();
    } while (more);
    assertThat(LogRows.told(store)).containsExactlyElementsOf(WRITTEN_AND_COMPACTED);
  }

  private static final List<String> WRITTEN_AND_COMPACTED =
      List.of("created a", "updated a", "deleted b", "created b", "updated b");

  private void write() {
    databases.create("a");
    databases.create("b");
    for (int i = 0; i < 10; i++) {
      databases.put("b", "x");
      databases.put("a", "x");
    }
    databases.delete("b");
    databases.create("b");
    databases.put("b", "x");
  }

  @Test
  void of_two_steps_at_once_one_goes_on_from_the_other() {
    FaultyStore faulty = new FaultyStore(store);
    write();
    UpdatesCompaction slow = Compactions.of(faulty.store(), 3);
    UpdatesCompaction quick = Compactions.of(store, 2);
    for (int i = 0; i < 20; i++) {
      faulty.beforeNextCommit(quick::step);
      slow.step();
    }
    assertThat(LogRows.told(store)).containsExactlyElementsOf(WRITTEN_AND_COMPACTED);
  }

  @Test
  void a_step_and_a_write_at_once_both_commit_at_the_first_go() {
    FaultyStore faulty = new FaultyStore(store);
    UpdatesCompaction slow = Compactions.of(faulty.store(), 100);
    StoreDatabases slowWriter = new StoreDatabases(faulty.store());
    databases.create("a");
    databases.put("a", "x");
    databases.put("a", "x");

    int commits = faulty.commits();
    faulty.beforeNextCommit(() -> databases.put("a", "x"));
    slow.step();
    assertThat(faulty.commits() - commits).isEqualTo(1);
    assertThat(LogRows.told(store)).containsExactly("created a", "updated a", "updated a");

    faulty.beforeNextCommit(() -> compact(store));
    slowWriter.put("a", "y");
    assertThat(faulty.commits() - commits).isEqualTo(2);
    assertThat(LogRows.told(store)).containsExactly("created a", "updated a", "updated a");
  }

  @Test
  void with_writers_and_two_compactions_the_last_rows_stay() throws Exception {
    int writers = 4;
    List<Future<Map<String, Versionstamp>>> writing = new ArrayList<>();
    List<Future<?>> compacting = new ArrayList<>();
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(writers + 2);
    try {
      for (int number = 0; number < writers; number++) {
        int writer = number;
        writing.add(threads.submit(() -> write(writer, new Random(writer))));
      }
      for (int i = 0; i < 2; i++) {
        int size = 3 + i;
        compacting.add(
            threads.submit(
                () -> {
                  while (!done.get()) {
                    compact(store, size);
                  }
                }));
      }
      Map<String, Versionstamp> last = new HashMap<>();
      for (Future<Map<String, Versionstamp>> writer : writing) {
        last.putAll(writer.get());
      }
      done.set(true);
      for (Future<?> compactor : compacting) {
        compactor.get();
      }
      compact(store, 5);
      assertThat(lastUpdates()).isEqualTo(last);
      assertThat(LogRows.of(store)).hasSizeLessThanOrEqualTo(3 * writers * 3);
    } finally {
      threads.shutdownNow();
    }
  }

  /** Returns the last update of each living database. */
  private Map<String, Versionstamp> write(int writer, Random random) {
    StoreDatabases own = new StoreDatabases(store);
    Map<String, Versionstamp> last = new HashMap<>();
    for (int i = 0; i < 150; i++) {
      String name = "w" + writer + "_" + random.nextInt(3);
      if (!own.exists(name)) {
        own.create(name);
      } else if (random.nextInt(8) == 0) {
        own.delete(name);
        last.remove(name);
      } else {
        byte[] stamp = own.put(name, "x").last().orElseThrow().versionstamp();
        last.put(name, new Versionstamp(stamp).startOfCommit());
      }
    }
    return last;
  }

  private Map<String, Versionstamp> lastUpdates() {
    Map<String, Versionstamp> last = new HashMap<>();
    for (DatabaseUpdate row : LogRows.of(store)) {
      if (row.kind() == DatabaseUpdate.Kind.UPDATED) {
        assertThat(last.put(row.name().text(), row.at())).isNull();
      }
    }
    return last;
  }

  private static void compact(Store store) {
    compact(store, 256);
  }

  private static void compact(Store store, int rowsPerBucket) {
    UpdatesCompaction compaction = Compactions.of(store, rowsPerBucket);
    boolean more;
    do {
      more = compaction.step();
    } while (more);
  }

  private int pointers() {
    return rowsBelow(RootSubspace.UPDATE_POINTERS);
  }

  private int rowsBelow(RootSubspace subspace) {
    byte[] prefix = subspace.key(store.rootPrefix()).toBytes();
    return databases.transactions.read(
        tx -> Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList()).size());
  }
}
