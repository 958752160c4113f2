package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.changes.notify.DatabaseLook;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.Poll;
import lectus.changes.notify.StorePoll;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.changes.page.DatabaseNotifications.Listener;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
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
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @Nested
  @ExtendWith(VertxExtension.class)
  class Poller {
    private static final PollSettings SETTINGS =
        new PollSettings(Duration.ofMillis(40), Duration.ofHours(1));

    private final ListenerRegistry listeners = new ListenerRegistry();
    private final BlockingQueue<Long> runs = new LinkedBlockingQueue<>();

    private Future<String> deploy(Vertx vertx, Poll... polls) {
      return vertx.deployVerticle(new ChangesPollerVerticle(List.of(polls), listeners, SETTINGS));
    }

    /** A poll that is always due again after this time. */
    private Poll every(Duration pause, Runnable body) {
      return new Poll() {
        @Override
        public void run() {
          runs.add(System.nanoTime());
          body.run();
        }

        @Override
        public Duration untilNext() {
          return pause;
        }
      };
    }

    private long nextRun() throws InterruptedException {
      Long run = runs.poll(30, TimeUnit.SECONDS);
      assertThat(run).isNotNull();
      return run;
    }

    @Test
    void what_is_due_soon_is_looked_at_together(Vertx vertx) throws Exception {
      deploy(vertx, every(Duration.ofMillis(1), () -> {})).await(30, TimeUnit.SECONDS);
      long last = nextRun();
      for (int i = 0; i < 5; i++) {
        long run = nextRun();
        assertThat(run - last).isGreaterThanOrEqualTo(SETTINGS.busy().toNanos());
        last = run;
      }
    }

    @Test
    void a_look_that_fails_is_followed_by_another(Vertx vertx, VertxTestContext test) {
      AtomicInteger looks = new AtomicInteger();
      deploy(
              vertx,
              every(
                  Duration.ofMillis(1),
                  () -> {
                    if (looks.incrementAndGet() == 3) {
                      test.completeNow();
                    }
                    throw new IllegalStateException("The store does not answer");
                  }))
          .onFailure(test::failNow);
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, NoClassDefFoundError.class, Error.class})
    void a_look_that_fails_keeps_nobody_from_the_next(
        Class<? extends Throwable> failure, Vertx vertx, VertxTestContext test) {
      AtomicInteger others = new AtomicInteger();
      AtomicInteger failed = new AtomicInteger();
      Poll broken =
          new Poll() {
            @Override
            public void run() {
              if (failed.getAndIncrement() == 0) {
                throwAny(failure);
              }
            }

            @Override
            public Duration untilNext() {
              return Duration.ofMillis(1);
            }
          };
      Runnable after =
          () -> {
            if (others.incrementAndGet() == 2 && failed.get() == 2) {
              test.completeNow();
            }
          };
      deploy(vertx, broken, every(Duration.ofHours(1), after)).onFailure(test::failNow);
    }

    private static void throwAny(Class<? extends Throwable> failure) {
      if (failure == IllegalStateException.class) {
        throw new IllegalStateException("The store does not answer");
      }
      throw failure == Error.class ? new Error("broken") : new NoClassDefFoundError("broken");
    }

    @Test
    void who_arrives_does_not_wait_for_the_others(Vertx vertx, VertxTestContext test) {
      deploy(vertx, every(Duration.ofHours(1), test::completeNow))
          .onComplete(
              test.succeeding(deployed -> listeners.addToAll(WantedDatabases.ALL, level -> {})));
    }
  }
}
