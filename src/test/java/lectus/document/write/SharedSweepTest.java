package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.document.testing.TestDatabase;
import lectus.store.LeasedRounds;
import lectus.store.testing.TestStores;
import lectus.store.testing.TimedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two servers share the purge of old tombstones; the time is moved on. */
final class SharedSweepTest {
  /** More than are purged between two renewals of the lease. */
  private static final int TOMBSTONES = 150;

  @TempDir Path folder;
  private TimedStore time;
  private List<TestDatabase> databases;
  private long now = 1_800_000_000;

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
  }

  @BeforeEach
  void open() {
    time = new TimedStore(folder);
    databases =
        List.of("a", "b", "c").stream().map(it -> TestDatabase.create(time.store, it)).toList();
    for (TestDatabase db : databases) {
      new AutoPurge(db.catalogue, db.transactions)
          .put(db.name, TestDatabase.utf8("{\"deleted_document_ttl\":\"1_h\"}"));
      for (int i = 0; i < TOMBSTONES; i++) {
        db.replicate("d" + i, "{\"_deleted\":true}", "2-b", "1-a");
      }
    }
    TombstoneSweep first = sweep();
    round(first);
    first.giveBack();
    now += 86_400;
    time.pass(86_400);
  }

  @AfterEach
  void close() {
    SoundStore.assertSound(time.store);
    time.close();
  }

  private TombstoneSweep sweep() {
    TestDatabase db = databases.get(0);
    return new TombstoneSweep(
        time.store,
        db.catalogue,
        db.writer,
        new SweepMetrics(),
        () -> Instant.ofEpochSecond(now),
        new LeasedRounds(time.store, TombstoneSweep.TASK));
  }

  private static void round(TombstoneSweep sweep) {
    while (sweep.step()) {
      continue;
    }
  }

  private long tombstones() {
    return databases.stream().mapToLong(db -> db.statistics().deletedDocuments()).sum();
  }

  @Test
  void one_server_sweeps_and_the_other_goes_on_ten_seconds_after_it_was_killed() {
    TombstoneSweep killed = sweep();
    TombstoneSweep other = sweep();
    assertThat(killed.step()).isTrue();
    assertThat(tombstones()).isEqualTo(2 * TOMBSTONES);
    time.pass(9);
    assertThat(other.step()).isFalse();
    assertThat(tombstones()).isEqualTo(2 * TOMBSTONES);

    time.pass(2);
    round(other);
    assertThat(tombstones()).isZero();
    assertThat(killed.step()).as("one that only slept").isFalse();
    assertThat(other.step()).as("the round has ended").isFalse();
  }

  @Test
  void a_server_that_is_shut_down_is_replaced_at_once() {
    TombstoneSweep shutDown = sweep();
    shutDown.step();
    shutDown.giveBack();

    round(sweep());
    assertThat(tombstones()).isZero();
  }
}
