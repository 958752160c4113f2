package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.GoneSubspace.Image;
import lectus.changes.testing.MovedDatabase;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.Whereabouts;
import lectus.database.Whereabouts.Frozen;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.testing.TestDatabase;
import lectus.json.MalformedTupleException;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.EmbeddedStores;
import lectus.store.LeasedRounds;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.TestJava;
import lectus.store.testing.TestStores;
import lectus.store.testing.TimedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Tombstones go when they are old enough, whatever was written meanwhile. */
final class TombstoneSweepTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final long DAY = 86_400;

  private final Store store = MovedDatabase.withLongPrefixes(stores.fresh());
  private final TestDatabase db = TestDatabase.create(store);
  private long now = 1_800_000_000;
  private final SweepMetrics figures = new SweepMetrics();
  private final TombstoneSweep sweep = sweep();

  private TombstoneSweep sweep() {
    return new TombstoneSweep(
        store, db.catalogue, db.writer, figures, () -> Instant.ofEpochSecond(now));
  }

  private void keepFor(String time) {
    keepFor(db, time);
  }

  private static void keepFor(TestDatabase db, String time) {
    new AutoPurge(db.catalogue, db.transactions)
        .put(db.name, TestDatabase.utf8("{\"deleted_document_ttl\":\"" + time + "\"}"));
  }

  private void round() {
    boolean more;
    do {
      more = sweep.step();
    } while (more);
  }

  private void roundAfter(long seconds) {
    now += seconds;
    round();
  }

  private void delete(String id) {
    db.delete(id, db.put(id, "{}"));
  }

  @Test
  void a_tombstone_goes_once_it_is_surely_as_old() {
    keepFor("2_days");
    delete("a");
    db.put("live", "{}");
    roundAfter(0);

    roundAfter(2 * DAY - 1);
    assertThat(db.branches("a")).hasSize(1);

    roundAfter(1);
    assertThat(db.branches("a")).isEmpty();
    assertThat(db.branches("live")).hasSize(1);
    db.audit(1);
  }

  @Test
  void all_revisions_go_and_what_lives_stays() {
    keepFor("1_h");
    db.replicate("a", "{\"_deleted\":true}", "3-a", "2-x", "1-x");
    db.replicate("a", "{\"_deleted\":true}", "2-b", "1-x");
    db.replicate("b", "{\"_deleted\":true}", "3-a", "2-x");
    db.replicate("b", "{}", "2-b", "1-x");
    roundAfter(0);
    roundAfter(DAY);

    assertThat(db.branches("a")).isEmpty();
    assertThat(db.leaves("b")).containsExactly("2-b", "(3-a)");
  }

  @Test
  void a_document_that_was_deleted_again_waits_again() {
    keepFor("1_h");
    delete("a");
    roundAfter(0);
    now += DAY;
    RevisionId again = db.put("a", "{}");
    db.delete("a", again);
    round();
    assertThat(db.branches("a")).hasSize(1);

    roundAfter(DAY);
    assertThat(db.branches("a")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void what_a_database_came_with_ages_from_when_it_came(boolean isAbove) {
    delete("a");
    roundAfter(0);
    roundAfter(DAY);
    DatabaseHandle source = db.catalogue.open(db.name);
    long shift = isAbove ? MovedDatabase.ABOVE : MovedDatabase.below(source, 1);
    MovedDatabase.copy(db.transactions, db.catalogue, db.name, DatabaseName.of("moved"), shift);
    TestDatabase moved = TestDatabase.open(store, "moved");
    keepFor(moved, "1_h");
    roundAfter(DAY);
    assertThat(moved.branches("a")).hasSize(1);

    roundAfter(DAY);
    assertThat(moved.branches("a")).isEmpty();
    assertThat(db.branches("a")).as("it keeps them").hasSize(1);
  }

  @Test
  void many_are_found_in_all_shards_by_one_server_after_the_other() {
    keepFor("1_min");
    for (int i = 0; i < 30; i++) {
      delete("a" + i);
    }
    db.catalogue.reshard(db.name, 3);
    for (int i = 0; i < 30; i++) {
      delete("b" + i);
      db.put("live" + i, "{}");
    }
    roundAfter(0);
    now += 60;
    TombstoneSweep other = sweep();
    sweep.giveBack();
    while (other.step()) {
      continue;
    }

    assertThat(db.statistics().deletedDocuments()).isZero();
    assertThat(db.statistics().documents()).isEqualTo(30);
    db.audit(30);
  }

  @Test
  void a_damaged_document_is_counted_once_and_keeps_no_other() {
    keepFor("1_h");
    delete("damaged");
    List<KeyValue> sound = damage(db, DatabaseSubspace.REVISIONS);
    delete("a");
    roundAfter(0);
    roundAfter(DAY);
    roundAfter(DAY);
    restore(sound);

    assertThat(db.branches("a")).isEmpty();
    assertThat(db.branches("damaged")).hasSize(1);
    assertThat(figures.left.sum()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"AUTO_PURGE", "CHANGES"})
  void an_unreadable_database_is_logged_once_and_keeps_no_other(DatabaseSubspace part) {
    TestDatabase first = TestDatabase.create(store, "a-first");
    keepFor(first, "1_h");
    first.delete("a", first.put("a", "{}"));
    keepFor("1_h");
    delete("a");
    roundAfter(0);
    List<KeyValue> sound = damage(first, part);
    List<String> lines =
        linesOf(
            () -> {
              roundAfter(DAY);
              roundAfter(DAY);
            });
    restore(sound);
    assertThat(lines).containsExactly("The tombstones of a-first cannot be read, and were left");
    assertThat(figures.left.sum()).isEqualTo(2);
    assertThat(db.branches("a")).isEmpty();
    assertThat(first.branches("a")).hasSize(1);

    round();
    assertThat(first.branches("a")).isEmpty();
    List<KeyValue> again = damage(first, DatabaseSubspace.AUTO_PURGE);
    assertThat(linesOf(this::round)).as("damaged again").hasSize(1);
    restore(again);
  }

  @Test
  void as_many_unreadable_databases_are_logged_as_are_remembered() {
    List<String> lines =
        linesOf(
            () -> {
              for (int i = 0; i <= SweepMetrics.MAX_REMEMBERED; i++) {
                figures.unreadable(
                    DatabaseName.of("d" + i), new MalformedTupleException("damaged"));
              }
            });

    assertThat(lines).hasSize(SweepMetrics.MAX_REMEMBERED);
    assertThat(figures.left.sum()).isEqualTo(SweepMetrics.MAX_REMEMBERED + 1);
  }

  private static List<String> linesOf(Runnable work) {
    Logger logger = (Logger) LoggerFactory.getLogger(SweepMetrics.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    logger.setAdditive(false);
    try {
      work.run();
    } finally {
      logger.setAdditive(true);
      logger.detachAppender(log);
    }
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  /** Replaces the rows that there are with garbage. */
  private static List<KeyValue> damage(TestDatabase db, DatabaseSubspace part) {
    return db.transactions.runIdempotent(
        tx -> {
          byte[] begin = part.key(db.catalogue.open(db.name).prefix()).toBytes();
          List<KeyValue> rows = tx.getRange(Range.startsWith(begin)).asList().join();
          rows.forEach(row -> tx.set(row.getKey(), new byte[] {1, 2, 3}));
          return rows;
        });
  }

  @Test
  void a_database_that_is_being_moved_keeps_no_other() {
    TestDatabase moving = TestDatabase.create(store, "a");
    assertThat(moving.name).isLessThan(db.name);
    keepFor(moving, "1_h");
    moving.delete("gone", moving.put("gone", "{}"));
    keepFor("1_h");
    delete("gone");
    roundAfter(0);
    freeze(moving);

    roundAfter(DAY);
    assertThat(db.branches("gone")).isEmpty();
    assertThat(moving.branches("gone")).hasSize(1);

    moving.catalogue.relocate(moving.name, Whereabouts.HERE);
    roundAfter(DAY);
    assertThat(moving.branches("gone")).isEmpty();
  }

  private static void freeze(TestDatabase moving) {
    moving.transactions.run(
        tx -> {
          DatabaseHandle frozen = moving.catalogue.currentForWrites(tx, moving.name);
          new GoneSubspace(frozen)
              .follow(
                  tx, new Image("~r1", true, Awaiting.await(tx.getReadVersion()), Sequence.ZERO));
          moving.catalogue.relocate(tx, frozen, new Frozen("r1", "http://127.0.0.1:1/a"));
          return null;
        });
  }

  private void restore(List<KeyValue> rows) {
    db.transactions.runIdempotent(
        tx -> {
          rows.forEach(row -> tx.set(row.getKey(), row.getValue()));
          return null;
        });
  }

  @Test
  void nothing_goes_without_a_time_or_for_ever() {
    delete("a");
    roundAfter(0);
    roundAfter(100 * DAY);
    keepFor("infinity");
    roundAfter(100 * DAY);
    assertThat(db.branches("a")).hasSize(1);

    keepFor("1_y");
    round();
    assertThat(db.branches("a")).as("it is younger").hasSize(1);
    keepFor("200_days");
    round();
    assertThat(db.branches("a")).isEmpty();
  }

  @Test
  void a_clock_that_goes_back_makes_nothing_older() {
    keepFor("1_d");
    roundAfter(10 * DAY);
    delete("a");
    roundAfter(-9 * DAY);
    roundAfter(8 * DAY);
    assertThat(db.branches("a")).hasSize(1);

    roundAfter(DAY + 1);
    roundAfter(DAY);
    assertThat(db.branches("a")).isEmpty();
  }

  @Test
  void times_are_kept_less_exactly_the_older_they_are() {
    TimesSubspace times = new TimesSubspace(store.rootPrefix());
    long begin = now;
    for (int i = 0; i < 200; i++) {
      round();
      now += 12 * 3_600 + 17;
    }

    OptionalLong first = db.transactions.read(tx -> times.versionAt(tx, begin));
    assertThat(first).isPresent();
    assertThat(db.transactions.<OptionalLong>read(tx -> times.versionAt(tx, begin - 1))).isEmpty();
    assertThat(db.transactions.read(tx -> times.versionAt(tx, begin + 3 * DAY)).getAsLong())
        .isGreaterThanOrEqualTo(first.getAsLong());
    assertThat(
            db.transactions.<Integer>read(tx -> tx.getRange(times.range()).asList().join().size()))
        .isLessThan(101 + 121 + 6);
  }

  @Test
  void the_setting_is_read_as_couchdb_reads_it() {
    assertThat(TimeToLive.seconds("3_mon")).hasValue(90 * DAY);
    assertThat(TimeToLive.seconds("10_hours")).hasValue(36_000);
    assertThat(TimeToLive.seconds("0_s")).isEmpty();
    assertThat(TimeToLive.seconds("-1_s")).isEmpty();
    assertThat(TimeToLive.seconds("5")).isEmpty();
    assertThat(TimeToLive.seconds("5_parsecs")).isEmpty();
    assertThat(TimeToLive.seconds("99999999999_years")).isPresent();
    assertThat(TimeToLive.seconds("999999999999_s")).isEmpty();
    assertThat(TimeToLive.json(Optional.of("5_s"))).isEqualTo("{\"deleted_document_ttl\":\"5_s\"}");
  }

  /** A process that is killed while it sweeps leaves a sound store, and another one goes on. */
  @Nested
  class Killed {
    private static final long WRITTEN_AT = 1_800_000_000;
    private static final int TOMBSTONES = 6_000;

    @BeforeAll
    static void onlyEmbedded() {
      TestStores.onlyEmbedded();
    }

    @Test
    void a_sweep_goes_on_after_a_kill_once_the_lease_is_over(@TempDir Path data) throws Exception {
      try (Store store = EmbeddedStores.open(data)) {
        TestDatabase db = TestDatabase.create(store);
        new AutoPurge(db.catalogue, db.transactions)
            .put(db.name, TestDatabase.utf8("{\"deleted_document_ttl\":\"1_min\"}"));
        db.put("live", "{}");
        db.write(tombstones());
        TombstoneSweep first = sweep(db, WRITTEN_AT);
        all(first);
        first.giveBack();
      }

      killAfterTheFirstPiece(data);

      try (Store store = EmbeddedStores.open(data)) {
        TestDatabase db = TestDatabase.open(store, "db");
        SoundStore.assertSound(store);
        long left = db.statistics().deletedDocuments();
        assertThat(left).isPositive().isLessThan(TOMBSTONES);
        TombstoneSweep next = sweep(db, WRITTEN_AT + 120);
        endLeases(db);
        all(next);
        assertThat(db.statistics().deletedDocuments()).isZero();
        assertThat(db.branches("live")).hasSize(1);
        SoundStore.assertSound(store);
      }
    }

    private static List<ReplicatedEdit> tombstones() {
      List<ReplicatedEdit> edits = new ArrayList<>();
      for (int i = 0; i < TOMBSTONES; i++) {
        edits.add(TestDatabase.replicated("d" + i, "{\"_deleted\":true}", "2-b", "1-a"));
      }
      return edits;
    }

    /** The ten seconds of the killed process in no time. */
    private static void endLeases(TestDatabase db) {
      db.transactions.runIdempotent(
          tx -> {
            tx.clear(RootSubspace.LEASES.range(db.store.rootPrefix()));
            return null;
          });
    }

    private static void killAfterTheFirstPiece(Path data) throws IOException, InterruptedException {
      List<String> command = TestJava.command(128);
      command.addAll(List.of(Sweeper.class.getName(), data.toString()));
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      try (BufferedReader out = process.inputReader()) {
        String line = out.readLine();
        while (line != null && !line.equals(Sweeper.PURGED)) {
          line = out.readLine();
        }
        assertThat(line).isNotNull();
      } finally {
        process.destroyForcibly().waitFor();
      }
    }

    private static TombstoneSweep sweep(TestDatabase db, long seconds) {
      return new TombstoneSweep(
          db.store, db.catalogue, db.writer, () -> Instant.ofEpochSecond(seconds));
    }

    private static void all(TombstoneSweep sweep) {
      boolean more;
      do {
        more = sweep.step();
      } while (more);
    }

    /** Tells of its first piece, and goes on until it is killed. */
    static final class Sweeper {
      static final String PURGED = "purged some";

      private Sweeper() {}

      public static void main(String[] arguments) throws InterruptedException {
        Store store = EmbeddedStores.open(Path.of(arguments[0]));
        TombstoneSweep sweep = sweep(TestDatabase.open(store, "db"), WRITTEN_AT + 120);
        sweep.step();
        System.out.println(PURGED);
        sweep.step();
        Thread.currentThread().join();
      }
    }
  }

  /** Two servers share the purge of old tombstones; the time is moved on. */
  @Nested
  class Shared {
    /** More than are purged between two renewals of the lease. */
    private static final int TOMBSTONES = 150;

    @TempDir Path folder;
    private TimedStore time;
    private List<TestDatabase> databases;

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
}
