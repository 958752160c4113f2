package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.changes.log.LogRows;
import lectus.changes.notify.ListenerRegistry.CommitClock;
import lectus.changes.notify.StorePoll.PollSchedule;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.testing.TestLayout;
import lectus.http.testing.TestSettings;
import lectus.server.Layer;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * When the store is asked for moves, of which listeners to all databases learn though no event
 * announces them.
 */
final class StorePollTest {
  /** More than are read at once. */
  private static final int MAX_ROWS = 2 * Layer.UPDATES_PER_BUCKET;

  private static final String ONE = "one";

  private static final String TWO = "two";

  private static final long SECOND = 1_000_000_000;

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();

  private final Layer layer = new Layer(store, new TestSettings().toNode(), () -> false);

  private final ListenerRegistry listeners = new ListenerRegistry(Runnable::run);

  private final List<Versionstamp> told = new ArrayList<>();

  private final StorePoll poll =
      new StorePoll(
          layer::newestUpdate,
          layer::updatesFrom,
          new DatabaseLook(
              layer.tails(), listeners, new UpdateAnnouncer(listeners, Optional.empty())),
          listeners,
          MAX_ROWS,
          new PollSettings(Duration.ofMillis(1), Duration.ofMillis(2)));

  private long now = Long.MAX_VALUE - 1_000_000;

  private final PollSchedule<String> schedule =
      new PollSchedule<>(
          new PollSettings(Duration.ofMillis(100), Duration.ofMillis(1_000)), () -> now);

  private final CommitClock clock = new CommitClock();

  private void listen() {
    listeners.addToAll(WantedDatabases.ALL, level -> told.add(level));
  }

  private List<Versionstamp> logged() {
    return LogRows.of(store).stream().map(row -> row.at().endOfCommit()).toList();
  }

  /** Runs the poll when it is due. */
  private void look() {
    poll.run();
    long pause = poll.untilNext().toNanos();
    long due = System.nanoTime() + pause;
    while (System.nanoTime() - due < 0) {
      Thread.onSpinWait();
    }
    poll.run();
  }

  @Test
  void each_row_of_the_log_is_told_once() {
    listen();
    look();
    assertThat(told).isEmpty();
    layer.catalogue().create(DatabaseName.of("a"), TestLayout.OPTIONS);
    look();
    look();
    assertThat(told).hasSize(1).isEqualTo(logged());
    layer.catalogue().delete(DatabaseName.of("a"));
    look();
    look();

    assertThat(told).hasSize(2).isEqualTo(logged());
  }

  @Test
  void of_more_rows_than_are_told_by_name_the_last_is_told_for_all() {
    DatabaseHandle busy = layer.catalogue().create(DatabaseName.of("a"), TestLayout.OPTIONS);
    listen();
    look();
    told.clear();
    for (int i = 0; i < MAX_ROWS; i++) {
      update(busy);
    }
    look();
    assertThat(told).hasSize(MAX_ROWS);
    told.clear();
    for (int i = 0; i <= MAX_ROWS; i++) {
      update(busy);
    }
    look();
    assertThat(told).hasSize(MAX_ROWS + 1).endsWith(layer.newestUpdate().orElseThrow());
  }

  @Test
  void a_busy_database_does_not_wake_those_who_listen_to_others() {
    DatabaseHandle busy = layer.catalogue().create(DatabaseName.of("busy"), TestLayout.OPTIONS);
    DatabaseHandle quiet = layer.catalogue().create(DatabaseName.of("quiet"), TestLayout.OPTIONS);
    WantedDatabases other =
        new WantedDatabases(Set.of(DatabaseName.of("quiet")), Set.of(), name -> false);
    listeners.addToAll(other, level -> told.add(level));
    look();
    told.clear();
    for (int i = 0; i < Layer.UPDATES_PER_BUCKET + 1; i++) {
      update(busy);
    }
    look();
    assertThat(told).isEmpty();
    update(quiet);
    look();
    assertThat(told).hasSize(1);
  }

  private void update(DatabaseHandle db) {
    new TransactionRunner(store, TransactionLimits.DEFAULT)
        .run(
            tx -> {
              layer.catalogue().noteUpdate(tx, db);
              return null;
            });
  }

  @Test
  void nobody_looks_while_nobody_listens() {
    layer.catalogue().create(DatabaseName.of("a"), TestLayout.OPTIONS);
    look();
    listen();
    look();

    assertThat(told).hasSize(1);
  }

  private void pass(long millis) {
    now += Duration.ofMillis(millis).toNanos();
  }

  /** Returns the pause before the next poll, which finds this. */
  private long pauseBefore(boolean moved) {
    long pause = schedule.untilNext().toMillis();
    pass(pause);
    assertThat(schedule.due()).containsExactly(ONE);
    schedule.looked(ONE, moved);
    return pause;
  }

  @Test
  void pauses_double_while_a_database_stands_still_and_are_short_when_it_moved() {
    schedule.follow(Set.of(ONE));

    assertThat(pauseBefore(false)).isEqualTo(100);
    assertThat(pauseBefore(false)).isEqualTo(200);
    assertThat(pauseBefore(false)).isEqualTo(400);
    assertThat(pauseBefore(false)).isEqualTo(800);
    assertThat(pauseBefore(false)).isEqualTo(1_000);
    assertThat(pauseBefore(true)).isEqualTo(1_000);
    assertThat(pauseBefore(true)).isEqualTo(100);
    assertThat(pauseBefore(false)).isEqualTo(100);
    assertThat(pauseBefore(false)).isEqualTo(200);
  }

  @Test
  void each_database_has_a_pace_of_its_own() {
    schedule.follow(Set.of(ONE));
    pauseBefore(false);
    pauseBefore(false);
    schedule.follow(Set.of(ONE, TWO));

    assertThat(schedule.untilNext()).isEqualTo(Duration.ofMillis(100));
    pass(100);
    assertThat(schedule.due()).containsExactly(TWO);
  }

  @Test
  void what_nobody_listens_to_is_forgotten() {
    schedule.follow(Set.of(ONE));
    pauseBefore(false);
    schedule.follow(Set.of());

    assertThat(schedule.untilNext()).isEqualTo(Duration.ofMillis(1_000));
    schedule.follow(Set.of(ONE));
    assertThat(schedule.untilNext()).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void versions_before_a_known_one_are_a_microsecond_older_each() {
    clock.reached(50_000_000);

    long age = clock.ageNanos(50_000_000);
    assertThat(age).isGreaterThanOrEqualTo(0);
    assertThat(clock.ageNanos(40_000_000)).isGreaterThanOrEqualTo(10 * SECOND + age);
  }

  @Test
  void nothing_is_younger_than_now_or_older_than_a_day() {
    clock.reached(1L << 60);

    assertThat(clock.ageNanos(Long.MAX_VALUE)).isZero();
    assertThat(clock.ageNanos(0)).isEqualTo(24 * 3_600 * SECOND);
  }

  @Test
  void an_earlier_version_that_is_heard_of_late_changes_nothing() {
    clock.reached(50_000_000);
    clock.reached(10_000_000);

    assertThat(clock.ageNanos(10_000_000)).isGreaterThanOrEqualTo(40 * SECOND);
  }
}
