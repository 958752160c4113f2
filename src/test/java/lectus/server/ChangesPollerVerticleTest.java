package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.Poll;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(VertxExtension.class)
final class ChangesPollerVerticleTest {
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
