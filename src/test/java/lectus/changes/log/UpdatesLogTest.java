package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
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
import lectus.store.CountedReads;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the updates log records, and how it is read. */
final class UpdatesLogTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

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
}
