package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.feed.WantedDatabases;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class ChangesPollerVerticleTest {
  private static final PollSettings SETTINGS =
      new PollSettings(Duration.ofMillis(40), Duration.ofHours(1));

  private final Vertx vertx = Vertx.vertx();
  private final ListenerRegistry listeners = new ListenerRegistry();
  private final BlockingQueue<Long> runs = new LinkedBlockingQueue<>();

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private void deploy(Poll... polls) {
    vertx.deployVerticle(new ChangesPollerVerticle(List.of(polls), listeners, SETTINGS)).await();
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
  void what_is_due_soon_is_looked_at_together() throws InterruptedException {
    deploy(every(Duration.ofMillis(1), () -> {}));
    long last = nextRun();
    for (int i = 0; i < 5; i++) {
      long run = nextRun();
      assertThat(run - last).isGreaterThanOrEqualTo(SETTINGS.busy().toNanos());
      last = run;
    }
  }

  @Test
  void a_look_that_fails_is_followed_by_another() throws InterruptedException {
    deploy(
        every(
            Duration.ofMillis(1),
            () -> {
              throw new IllegalStateException("The store does not answer");
            }));

    nextRun();
    nextRun();
    nextRun();
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, NoClassDefFoundError.class, Error.class})
  void a_look_that_fails_keeps_nobody_from_the_next(Class<? extends Throwable> failure)
      throws InterruptedException {
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
    deploy(broken, every(Duration.ofHours(1), () -> {}));

    nextRun();
    nextRun();
    assertThat(failed).hasValueGreaterThan(1);
  }

  private static void throwAny(Class<? extends Throwable> failure) {
    if (failure == IllegalStateException.class) {
      throw new IllegalStateException("The store does not answer");
    }
    throw failure == Error.class ? new Error("broken") : new NoClassDefFoundError("broken");
  }

  @Test
  void who_arrives_does_not_wait_for_the_others() throws InterruptedException {
    deploy(every(Duration.ofHours(1), () -> {}));
    listeners.addToAll(WantedDatabases.ALL, level -> {});

    nextRun();
  }
}
