package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.Sequence;
import lectus.document.read.LocalDocuments;
import lectus.document.write.EditOutcome;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.CountedReads;
import lectus.store.FaultyStore;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the updates log records, how it is read, and what its compaction leaves, whatever happens
 * during it.
 */
final class UpdatesLogTest {
  private static final List<String> WRITTEN_AND_COMPACTED =
      List.of("created a", "updated a", "deleted b", "created b", "updated b");

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();

  private final StoreDatabases databases = new StoreDatabases(store);

  private final UpdatesLog log = new UpdatesLog(store);

  @Test
  void each_transaction_of_a_database_is_one_row() {
    databases.create("a");
    databases.create("b");
    databases.put("b", "x", "y", "z");
    databases.put("a", "x");
    databases.delete("b");
    assertThat(LogRows.told(store))
        .containsExactly("created a", "created b", "updated b", "updated a", "deleted b");
  }

  @Test
  void what_writes_no_document_is_not_logged() {
    DatabaseName name = databases.create("a").name();
    databases.put("a", "x");
    List<DatabaseUpdate> before = LogRows.of(store);

    assertThat(databases.write("a", "x", "{}").outcomes())
        .anyMatch(EditOutcome.Failed.class::isInstance);
    assertThatThrownBy(() -> databases.create("a")).isInstanceOf(LectusException.class);
    databases.catalogue.configure(name, was -> new DatabaseConfiguration(7, was.partitioned()));
    assertThat(databases.putLocal("a", "_local/ck").outcomes())
        .noneMatch(EditOutcome.Failed.class::isInstance);
    new LocalDocuments(databases.catalogue, databases.transactions).delete(name, "_local/ck");

    assertThat(LogRows.of(store)).isEqualTo(before);
  }

  /** Readers of many databases look again whether they may read this one. */
  @Test
  void a_security_object_is_logged() {
    DatabaseHandle a = databases.create("a");

    databases.catalogue.secure(a.name(), "{}".getBytes(StandardCharsets.UTF_8));

    assertThat(LogRows.of(store))
        .extracting(DatabaseUpdate::kind)
        .containsExactly(DatabaseUpdate.Kind.CREATED, DatabaseUpdate.Kind.UPDATED);
  }

  @Test
  void a_row_tells_the_commit_that_it_is_of() {
    DatabaseHandle a = databases.create("a");
    WriteResult written = databases.put("a", "x", "y");
    databases.delete("a");

    List<DatabaseUpdate> rows = LogRows.of(store);
    assertThat(rows).extracting(DatabaseUpdate::instance).containsOnly(a.instance());
    assertThat(rows.get(0).at()).isEqualTo(a.joined());
    Sequence last = written.last().orElseThrow();
    assertThat(rows.get(1).at())
        .isEqualTo(new Versionstamp(last.versionstamp()).startOfCommit())
        .isGreaterThan(a.joined());
    assertThat(rows.get(2).joined()).isEqualTo(a.joined());
  }

  @Test
  void the_end_of_a_database_is_told_when_it_came() {
    databases.create("a");
    Versionstamp end =
        Versionstamp.of(databases.catalogue.delete(DatabaseName.of("a")).versionstamp());
    assertThat(LogRows.of(store).get(1).at()).isEqualTo(end);
  }

  @Test
  void a_row_makes_no_transaction_lose() {
    FaultyStore faulty = new FaultyStore(store);
    StoreDatabases slow = new StoreDatabases(faulty.store());
    databases.create("a");
    int before = faulty.commits();
    faulty.beforeNextCommit(() -> databases.put("a", "x"));
    slow.put("a", "y");
    assertThat(faulty.commits() - before).isEqualTo(1);
    assertThat(LogRows.told(store)).containsExactly("created a", "updated a", "updated a");
  }

  @Test
  void reading_in_small_pieces_gives_every_row_once_in_order() {
    for (int i = 0; i < 40; i++) {
      databases.create("db" + i);
      databases.put("db" + i / 2, "x");
    }
    List<DatabaseUpdate> whole = LogRows.of(store);
    assertThat(whole).hasSize(80).isSortedAccordingTo((a, b) -> a.at().compareTo(b.at()));
    for (int perBucket : new int[] {1, 2, 7}) {
      assertThat(LogRows.of(store, perBucket)).isEqualTo(whole);
    }
  }

  @Test
  void reading_back_gives_the_same_rows_in_the_other_order() {
    for (int i = 0; i < 20; i++) {
      databases.create("db" + i);
    }
    List<DatabaseUpdate> backwards = new ArrayList<>();
    Optional<Versionstamp> until = Optional.of(Versionstamp.END);
    while (until.isPresent()) {
      Versionstamp before = until.get();
      UpdatesLog.Chunk chunk = databases.transactions.read(tx -> log.readBack(tx, before, 2));
      backwards.addAll(chunk.rows());
      until = chunk.next();
    }
    Collections.reverse(backwards);
    assertThat(backwards).isEqualTo(LogRows.of(store));
  }

  @Test
  void reading_from_a_point_gives_what_comes_behind_it() {
    databases.create("a");
    databases.create("b");
    databases.put("a", "x");
    List<DatabaseUpdate> rows = LogRows.of(store);
    UpdatesLog.Chunk behind =
        databases.transactions.read(tx -> log.read(tx, rows.get(0).at().successor(), 100));
    assertThat(behind.rows()).isEqualTo(rows.subList(1, 3));
    assertThat(behind.next()).isEmpty();
  }

  @Test
  void the_newest_row_is_found_in_any_bucket() {
    assertThat(newest()).isEmpty();
    for (int i = 0; i < 5; i++) {
      databases.create("db" + i);
      List<DatabaseUpdate> rows = LogRows.of(store);
      assertThat(newest()).contains(rows.get(rows.size() - 1).at());
    }
  }

  private Optional<Versionstamp> newest() {
    return databases.transactions.read(log::newest);
  }

  /** Rows that were removed since may be among them; all that are there have to be. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void what_readers_share_is_what_the_log_has(long seed) {
    Random random = new Random(seed);
    UpdatesLog log = new UpdatesLog(store, 1 << 20, 1);
    Set<DatabaseUpdate> once = new HashSet<>();
    for (int step = 0; step < 300; step++) {
      String name = "db" + random.nextInt(20);
      if (!databases.exists(name)) {
        databases.create(name);
      } else if (random.nextInt(9) == 0) {
        databases.delete(name);
      } else {
        databases.put(name, "x");
      }
      if (random.nextInt(10) == 0) {
        Compactions.step(store, 1 + random.nextInt(6));
      }
      List<DatabaseUpdate> all = LogRows.of(store);
      once.addAll(all);
      Versionstamp from = all.get(random.nextInt(all.size())).at();
      int perBucket = 1 + random.nextInt(5);
      List<DatabaseUpdate> read = new ArrayList<>();
      for (Optional<Versionstamp> at = Optional.of(from); at.isPresent(); ) {
        Versionstamp next = at.get();
        UpdatesLog.Chunk chunk =
            databases.transactions.read(tx -> log.readShared(tx, next, perBucket));
        read.addAll(chunk.rows());
        at = chunk.next();
      }
      assertThat(read).isSortedAccordingTo(Comparator.comparing(DatabaseUpdate::at));
      assertThat(read)
          .containsAll(all.stream().filter(it -> it.at().compareTo(from) >= 0).toList())
          .allMatch(once::contains)
          .doesNotHaveDuplicates();
    }
  }

  @Test
  void readers_share_no_more_than_there_is_memory_for() {
    CountedReads counted = new CountedReads(store);
    StoreDatabases seen = new StoreDatabases(counted.store());
    for (int i = 0; i < 200; i++) {
      databases.create("db" + i);
    }
    Versionstamp middle = LogRows.of(store).get(100).at();
    Compactions.whole(store);

    UpdatesLog small = new UpdatesLog(store, 20_000);
    UpdatesLog large = new UpdatesLog(store, 100_000);
    assertThat(rowsRead(counted, seen, small, middle)).isEqualTo(100);
    assertThat(rowsRead(counted, seen, small, middle)).isEqualTo(100);
    assertThat(rowsRead(counted, seen, large, middle)).isEqualTo(100);
    assertThat(rowsRead(counted, seen, large, middle)).isZero();
    assertThat(rowsRead(counted, seen, large, Versionstamp.ZERO)).isEqualTo(200);
    assertThat(rowsRead(counted, seen, large, Versionstamp.ZERO)).isZero();
    assertThat(rowsRead(counted, seen, large, middle)).as("part of the latter").isZero();
  }

  private static long rowsRead(
      CountedReads counted, StoreDatabases seen, UpdatesLog log, Versionstamp from) {
    long before = counted.rows();
    seen.transactions.read(tx -> log.readShared(tx, from, 1_000));
    return counted.rows() - before;
  }

  @Test
  void a_transaction_shares_nothing_that_it_cannot_see() {
    databases.create("a");
    UpdatesLog log = new UpdatesLog(store, 1 << 20, 1);
    databases.transactions.read(
        earlier -> {
          earlier.getReadVersion().join();
          databases.put("a", "x");
          Compactions.whole(store);
          UpdatesLog.Chunk later =
              databases.transactions.read(tx -> log.readShared(tx, Versionstamp.ZERO, 10));
          assertThat(later.rows()).hasSize(2);
          assertThat(log.readShared(earlier, Versionstamp.ZERO, 10).rows()).hasSize(1);
          return null;
        });
  }

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

  /** One server at a time compacts the updates log; when it dies, another continues. */
  @Nested
  class Leases {
    private static final long TWO_HOURS_OF_VERSIONS = 7_200_000_000L;
    private static final List<String> COMPACTED = List.of("created a", "updated a");
    private final FaultyStore ofOne = new FaultyStore(store);
    private final FaultyStore ofOther = new FaultyStore(store);
    private final UpdatesCompaction one = Compactions.ofAnother(ofOne.store());
    private final UpdatesCompaction other = Compactions.ofAnother(ofOther.store());

    @BeforeEach
    void oneCompacts() {
      databases.create("a");
      update();
      one.step();
      assertThat(LogRows.told(store)).isEqualTo(COMPACTED);
    }

    @Test
    void while_one_server_compacts_another_does_not() {
      update();
      List<DatabaseUpdate> before = LogRows.of(store);
      assertThat(other.step()).as("more to do").isFalse();
      assertThat(LogRows.of(store)).isEqualTo(before);
      one.step();
      assertThat(LogRows.told(store)).isEqualTo(COMPACTED);
    }

    @Test
    void one_that_died_is_followed_by_another_after_a_while() {
      update();
      ofOther.goOnBy(TWO_HOURS_OF_VERSIONS);
      other.step();
      assertThat(LogRows.told(store)).isEqualTo(COMPACTED);
    }

    @Test
    void one_that_stops_lets_another_go_on_at_once() {
      update();
      one.giveBack();
      other.step();
      assertThat(LogRows.told(store)).isEqualTo(COMPACTED);
    }

    @Test
    void what_another_has_nobody_gives_back() {
      update();
      List<DatabaseUpdate> before = LogRows.of(store);
      other.giveBack();
      other.step();
      assertThat(LogRows.of(store)).isEqualTo(before);
    }

    @Test
    void one_that_was_asleep_while_another_took_over_stores_nothing() {
      update();
      ofOther.goOnBy(TWO_HOURS_OF_VERSIONS);
      ofOne.goOnBy(TWO_HOURS_OF_VERSIONS);
      ofOne.beforeNextCommit(
          () -> {
            databases.put("a", "x");
            other.step();
            update();
          });
      one.step();
      assertThat(LogRows.told(store))
          .as("compacted by the other, then updated twice")
          .containsExactly("created a", "updated a", "updated a", "updated a");
    }

    @Test
    void a_quiet_log_makes_nobody_write() {
      List<KeyValue> lease = lease();
      List<DatabaseUpdate> before = LogRows.of(store);
      ofOther.goOnBy(TWO_HOURS_OF_VERSIONS);
      ofOne.goOnBy(TWO_HOURS_OF_VERSIONS);
      one.step();
      one.step();
      other.step();
      assertThat(LogRows.of(store)).isEqualTo(before);
      assertThat(lease()).hasSize(1).isEqualTo(lease);
    }

    private List<KeyValue> lease() {
      return databases.transactions.read(
          tx ->
              Awaiting.await(tx.getRange(RootSubspace.LEASES.range(store.rootPrefix())).asList()));
    }

    private void update() {
      databases.put("a", "x");
      databases.put("a", "x");
    }
  }
}
