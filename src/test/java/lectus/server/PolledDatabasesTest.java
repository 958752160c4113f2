package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.changes.notify.DatabaseLook;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.StorePoll;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.changes.page.DatabaseNotifications.Listener;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.database.UpdatesSubspace;
import lectus.database.testing.TestLayout;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.TestSettings;
import lectus.store.CountedReads;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Listeners to single databases learn of moves that no event announces. */
final class PolledDatabasesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int DATABASES = 50;

  private final Store store = stores.fresh();
  private final CountedReads counted = new CountedReads(store);
  private final Layer layer = new Layer(counted.store(), new TestSettings().toNode(), () -> false);
  private final Layer elsewhere = new Layer(store, new TestSettings().toNode(), () -> false);
  private final ListenerRegistry listeners = new ListenerRegistry(Runnable::run);
  private final UpdateAnnouncer announcer = new UpdateAnnouncer(listeners, Optional.empty());
  private final List<String> told = new ArrayList<>();
  private final StorePoll poll =
      new StorePoll(
          layer::newestUpdate,
          layer::updatesFrom,
          new DatabaseLook(layer.tails(), listeners, announcer),
          listeners,
          StorePoll.MAX_ROWS,
          new PollSettings(Duration.ofMillis(1), Duration.ofMillis(1)));

  private DatabaseHandle listenTo(String text) {
    DatabaseName name = DatabaseName.of(text);
    DatabaseHandle db = elsewhere.catalogue().create(name, TestLayout.OPTIONS);
    listeners.add(
        db,
        new Listener() {
          @Override
          public void updated(Sequence highest, TouchedShards shards) {
            told.add(text + " updated");
          }

          @Override
          public void corrected(Sequence untrue, Sequence highest) {
            told.add(text + " corrected");
          }

          @Override
          public void deleted() {
            told.add(text + " deleted");
          }
        });
    return db;
  }

  private void write(String text) {
    DatabaseName name = DatabaseName.of(text);
    elsewhere.writer().write(name, List.of(TestDatabase.edit("x" + System.nanoTime(), null, "{}")));
  }

  /** Runs the poll once it is due. */
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
  void an_idle_server_reads_the_end_of_the_log_whatever_number_of_databases_it_listens_to() {
    for (int i = 0; i < DATABASES; i++) {
      listenTo("d" + i);
    }
    look();
    long before = counted.reads();

    look();

    // Two runs at most.
    assertThat(counted.reads() - before).isLessThanOrEqualTo(2L * UpdatesSubspace.BUCKETS);
    write("d7");
    look();
    assertThat(told).containsExactly("d7 updated");
    assertThat(counted.reads() - before).isLessThan(DATABASES + 5L * UpdatesSubspace.BUCKETS);
  }

  @Test
  void when_more_has_moved_than_is_told_one_by_one_all_are_looked_at() {
    listenTo("a");
    listenTo("b");
    look();
    for (int i = 0; i <= Layer.UPDATES_PER_BUCKET; i++) {
      write("a");
    }
    write("b");
    look();

    assertThat(told).containsExactlyInAnyOrder("a updated", "b updated");
  }

  @Test
  void resharding_and_deleting_are_found() {
    listenTo("a");
    listenTo("b");
    look();
    elsewhere.catalogue().reshard(DatabaseName.of("a"), 2);
    elsewhere.catalogue().delete(DatabaseName.of("b"));
    look();

    assertThat(told).containsExactlyInAnyOrder("a updated", "b deleted");
  }

  @Test
  void what_was_told_too_high_makes_nobody_deaf() {
    DatabaseHandle db = listenTo("a");
    byte[] future = new byte[12];
    Arrays.fill(future, (byte) 0x7f);
    Sequence high = new Sequence(0, future);
    announcer.publishUpdated(db.instance(), db.name(), high, TouchedShards.ANY);
    assertThat(told).containsExactly("a updated");
    write("a");
    look();
    assertThat(told).containsExactly("a updated", "a corrected");
    write("a");
    look();

    assertThat(told).containsExactly("a updated", "a corrected", "a updated");
  }
}
