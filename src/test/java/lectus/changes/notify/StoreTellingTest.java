package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lectus.changes.notify.StoreListeners.StoreTelling;
import lectus.changes.page.DatabaseNotifications.StoreListener;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.Registration;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.testing.TestLayout;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes;
import lectus.http.testing.TestSettings;
import lectus.server.Layer;
import lectus.server.TransactionExecutorVerticle;
import lectus.server.WriteQueue;
import lectus.server.WriteQueue.WriteSettings;
import lectus.server.WriteRouter;
import lectus.store.Versionstamp;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Listeners to many databases are told independently of writers, and their index finds exactly
 * those that matching each of them finds.
 */
@ExtendWith(VertxExtension.class)
final class StoreTellingTest {
  private static final InstanceId INSTANCE = new InstanceId("1".repeat(32));

  @RegisterExtension static final TestStores stores = new TestStores();

  private final List<Runnable> tasks = new ArrayList<>();

  private final List<Versionstamp> heard = new ArrayList<>();

  private final List<Versionstamp> heardOfA = new ArrayList<>();

  private final ListenerRegistry listeners = new ListenerRegistry(tasks::add);

  private final StoreListeners index = new StoreListeners();

  private void listen() {
    listeners.addToAll(WantedDatabases.ALL, heard::add);
    listeners.addToAll(
        new WantedDatabases(Set.of(DatabaseName.of("a")), Set.of(), none -> false), heardOfA::add);
  }

  private void update(String name, int number) {
    listeners.updated(
        INSTANCE,
        Optional.of(DatabaseName.of(name)),
        CoalescedAnnouncementsTest.sequence(number),
        TouchedShards.ANY);
  }

  private static Versionstamp level(int number) {
    return new Versionstamp(CoalescedAnnouncementsTest.sequence(number).versionstamp());
  }

  private void runTasks() {
    List<Runnable> due = new ArrayList<>(tasks);
    tasks.clear();
    due.forEach(Runnable::run);
  }

  @Test
  void whoever_writes_tells_nobody() {
    listen();
    update("a", 1);
    update("a", 3);
    update("a", 2);
    update("b", 4);
    assertThat(heard).isEmpty();
    assertThat(tasks).as("one task at a time").hasSize(1);

    runTasks();
    assertThat(heard).containsExactlyInAnyOrder(level(3), level(4));
    assertThat(heardOfA).containsExactly(level(3));
    update("a", 5);
    runTasks();
    assertThat(heardOfA).containsExactly(level(3), level(5));
  }

  @Test
  void an_event_without_a_name_may_concern_everybody() {
    listen();
    listeners.created(Optional.empty());
    listeners.updated(
        INSTANCE, Optional.empty(), CoalescedAnnouncementsTest.sequence(7), TouchedShards.ANY);
    listeners.deleted(INSTANCE, Optional.empty());
    runTasks();

    assertThat(heardOfA).containsExactly(Versionstamp.END);
    listeners.updated(
        INSTANCE, Optional.empty(), CoalescedAnnouncementsTest.sequence(7), TouchedShards.ANY);
    runTasks();
    assertThat(heardOfA).containsExactly(Versionstamp.END, level(7));
  }

  @Test
  void as_many_databases_as_may_wait_are_told_one_by_one() {
    listen();
    for (int i = 0; i < StoreTelling.MAX_WAITING; i++) {
      update("b" + i, i % 100);
    }
    runTasks();

    assertThat(heard).hasSize(StoreTelling.MAX_WAITING);
    assertThat(heardOfA).isEmpty();
  }

  @Test
  void when_more_wait_everybody_is_told_the_highest_level() {
    listen();
    for (int i = 0; i <= StoreTelling.MAX_WAITING; i++) {
      update("b" + i, i % 100);
    }
    runTasks();

    assertThat(heard).containsExactly(level(99));
    assertThat(heardOfA).containsExactly(level(99));
  }

  @Test
  void one_that_fails_keeps_nobody_from_hearing() {
    StoreListener broken =
        level -> {
          throw new StackOverflowError();
        };
    listeners.addToAll(WantedDatabases.ALL, broken);
    listen();
    listeners.addToAll(WantedDatabases.ALL, broken);
    update("a", 1);
    runTasks();

    assertThat(heard).containsExactly(level(1));
    assertThat(heardOfA).containsExactly(level(1));
    update("a", 2);
    runTasks();
    assertThat(heardOfA).containsExactly(level(1), level(2));
  }

  @Test
  void everybody_is_told_after_a_failure_also_if_no_thread_could_be_had_at_first() {
    AtomicInteger refusals = new AtomicInteger(-1);
    ListenerRegistry own =
        new ListenerRegistry(
            task -> {
              if (refusals.get() >= 0) {
                refusals.incrementAndGet();
                throw new RejectedExecutionException();
              }
              tasks.add(task);
            });
    own.addToAll(WantedDatabases.ALL, heard::add);
    own.addToAll(
        new WantedDatabases(
            Set.of(),
            Set.of("a"),
            name -> {
              throw new StackOverflowError();
            }),
        heardOfA::add);
    own.created(Optional.of(DatabaseName.of("a")));
    refusals.set(0);
    runTasks();
    assertThat(heard).isEmpty();
    Await.until("it was tried again", () -> refusals.get() > 0);

    refusals.set(-1);
    own.created(Optional.of(DatabaseName.of("b")));
    runTasks();
    assertThat(heardOfA).containsExactly(Versionstamp.END);
  }

  @Test
  void everything_up_to_a_point_was_told_when_its_listeners_were() {
    listen();
    update("a", 1);
    listeners.loggedTo(level(1));
    assertThat(listeners.store.settled()).isEqualTo(Versionstamp.ZERO);
    runTasks();
    assertThat(listeners.store.settled()).isEqualTo(level(1));
    listeners.loggedTo(level(3));
    runTasks();
    assertThat(listeners.store.settled()).isEqualTo(level(3));
  }

  @Test
  void after_a_failure_everybody_is_told_before_that_counts_as_told() {
    WantedDatabases failing =
        new WantedDatabases(
            Set.of(),
            Set.of("a"),
            name -> {
              throw new StackOverflowError();
            });
    listeners.addToAll(failing, heardOfA::add);
    update("a", 1);
    listeners.loggedTo(level(1));
    runTasks();
    assertThat(listeners.store.settled()).isEqualTo(Versionstamp.ZERO);

    listeners.loggedTo(level(2));
    runTasks();
    assertThat(heardOfA).containsExactly(Versionstamp.END);
    assertThat(listeners.store.settled()).isEqualTo(level(2));
  }

  @Test
  void nothing_is_noted_while_nobody_listens() {
    update("a", 1);
    assertThat(tasks).isEmpty();
  }

  @Test
  void its_own_thread_tells_and_goes_on_after_a_pause() {
    ListenerRegistry own = new ListenerRegistry();
    AtomicInteger told = new AtomicInteger();
    own.addToAll(WantedDatabases.ALL, level -> told.incrementAndGet());
    for (int i = 1; i <= 3; i++) {
      int expected = i;
      own.created(Optional.of(DatabaseName.of("a")));
      Await.until("it is told", () -> told.get() == expected);
    }
  }

  /** The listener is held in its first call, so it is not told. */
  @Test
  void writes_go_on_while_a_listener_takes_its_time(Vertx vertx) throws Exception {
    Layer layer = new Layer(stores.fresh(), new TestSettings().toNode(), () -> false);
    DatabaseName name = DatabaseName.of("a");
    layer.catalogue().create(name, TestLayout.OPTIONS);
    CountDownLatch release = new CountDownLatch(1);
    AtomicInteger told = new AtomicInteger();
    ListenerRegistry own = new ListenerRegistry();
    own.addToAll(
        WantedDatabases.ALL,
        level -> {
          told.incrementAndGet();
          awaitQuietly(release);
        });
    WriteQueue queue = new WriteQueue(new WriteSettings(1, 100, 1 << 20, 64, 1 << 20));
    try {
      TransactionExecutorVerticle executor =
          new TransactionExecutorVerticle(
              WriteRouter.address(0),
              queue,
              layer.writer(),
              new UpdateAnnouncer(own, Optional.empty()));
      DeploymentOptions worker = new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER);
      vertx.deployVerticle(executor, worker).await(20, TimeUnit.SECONDS);
      WriteRouter writes =
          new WriteRouter(vertx.eventBus(), List.of(queue), 64, Duration.ofMinutes(1));
      for (int i = 0; i < 5; i++) {
        CompletableFuture<List<EditOutcome>> written = new CompletableFuture<>();
        Edit edit = TestDatabase.edit("d" + i, null, "{}");
        writes.write(name, edit, 100, completing(written));
        assertThat(written.get(20, TimeUnit.SECONDS).get(0))
            .isInstanceOf(EditOutcome.Written.class);
        Await.until("it is told, and held", () -> told.get() == 1);
      }
      release.countDown();
      // The last write may be announced after it was answered, and so be told by itself.
      Await.until("it is told of what came meanwhile", () -> told.get() >= 2);
    } finally {
      release.countDown();
    }
  }

  private static Writes.Completion completing(CompletableFuture<List<EditOutcome>> written) {
    return new Writes.Completion() {
      @Override
      public void written(List<EditOutcome> outcomes) {
        written.complete(outcomes);
      }

      @Override
      public void failed(Throwable failure) {
        written.completeExceptionally(failure);
      }
    };
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A listener's patterns, as regular expressions. */
  private record Naive(List<Pattern> patterns, StoreListener listener, Registration registration) {
    boolean wants(DatabaseName name) {
      return patterns.stream().anyMatch(pattern -> pattern.matcher(name.text()).matches());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void it_finds_whom_a_look_at_each_finds(long seed) {
    Random random = new Random(seed);
    List<Naive> listeners = new ArrayList<>();
    for (int round = 0; round < 300; round++) {
      if (random.nextInt(3) > 0 || listeners.isEmpty()) {
        listeners.add(register(random));
      } else {
        Naive left = listeners.remove(random.nextInt(listeners.size()));
        left.registration.close();
        left.registration.close();
      }
      for (int i = 0; i < 10; i++) {
        DatabaseName name = DatabaseName.of("a" + text(random, "ab/", random.nextInt(6)));
        assertThat(new HashSet<>(index.of(name))).as(name.text()).isEqualTo(of(listeners, name));
      }
    }
    assertThat(index.all()).hasSameSizeAs(listeners);
    listeners.forEach(listener -> listener.registration.close());
    assertThat(index.all.isEmpty()).isTrue();
    assertThat(index.of(DatabaseName.of("a"))).isEmpty();
  }

  private static Set<StoreListener> of(List<Naive> listeners, DatabaseName name) {
    return listeners.stream()
        .filter(listener -> listener.wants(name))
        .map(Naive::listener)
        .collect(Collectors.toSet());
  }

  private Naive register(Random random) {
    Set<DatabaseName> names = new HashSet<>();
    Set<String> heads = new HashSet<>();
    List<Pattern> starred = new ArrayList<>();
    List<Pattern> all = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      if (random.nextBoolean()) {
        String name = "a" + text(random, "ab/", random.nextInt(6));
        names.add(DatabaseName.of(name));
        all.add(Pattern.compile(Pattern.quote(name)));
      } else {
        String head = random.nextInt(5) == 0 ? "" : "a" + text(random, "ab/", random.nextInt(4));
        String tail = text(random, "ab/", random.nextInt(2));
        heads.add(head);
        starred.add(Pattern.compile(Pattern.quote(head) + ".*" + Pattern.quote(tail)));
      }
    }
    all.addAll(starred);
    WantedDatabases wanted =
        new WantedDatabases(
            names,
            heads,
            name -> starred.stream().anyMatch(pattern -> pattern.matcher(name.text()).matches()));
    StoreListener listener =
        level -> {
          throw new AssertionError("Nobody is told of anything here, least of all of " + all);
        };
    return new Naive(all, listener, index.add(wanted, listener));
  }

  private static String text(Random random, String alphabet, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }
}
