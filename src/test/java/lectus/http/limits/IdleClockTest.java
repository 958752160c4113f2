package lectus.http.limits;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Timers of equal length in one queue. */
final class IdleClockTest {
  private final Vertx vertx = Vertx.vertx();
  private final Context loop = vertx.getOrCreateContext();
  private final IdleClock clock = new IdleClock();

  @AfterEach
  void stop() {
    vertx.close().await();
  }

  private void onLoop(Runnable task) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    loop.runOnContext(
        none -> {
          task.run();
          done.countDown();
        });
    assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whoever_is_idle_is_called_again_and_again_in_turn() throws InterruptedException {
    BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    onLoop(
        () -> {
          clock.start(vertx, 30, () -> calls.add("a"));
          clock.start(vertx, 30, () -> calls.add("b"));
        });
    for (int round = 0; round < 3; round++) {
      assertThat(calls.poll(30, TimeUnit.SECONDS)).isEqualTo("a");
      assertThat(calls.poll(30, TimeUnit.SECONDS)).isEqualTo("b");
    }
  }

  @Test
  void what_one_throws_is_no_affair_of_the_others() throws InterruptedException {
    BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    onLoop(
        () -> {
          clock.start(
              vertx,
              30,
              () -> {
                throw new OutOfMemoryError("of this test");
              });
          clock.start(vertx, 30, () -> calls.add("b"));
        });
    for (int round = 0; round < 3; round++) {
      assertThat(calls.poll(30, TimeUnit.SECONDS)).isEqualTo("b");
    }
  }

  @Test
  void thousands_of_one_length_need_one_timer() throws InterruptedException {
    List<IdleClock.Timer> timers = new ArrayList<>();
    onLoop(
        () -> {
          for (int i = 0; i < 5_000; i++) {
            timers.add(clock.start(vertx, 60_000, () -> {}));
          }
          timers.forEach(IdleClock.Timer::restart);
          assertThat(clock.lines.size()).isEqualTo(1);
          timers.forEach(IdleClock.Timer::stop);
          timers.forEach(IdleClock.Timer::restart);
          timers.forEach(IdleClock.Timer::stop);
        });

    assertThat(clock.lines.size()).isZero();
  }

  @Test
  void who_starts_again_goes_to_the_end() throws InterruptedException {
    BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    onLoop(
        () -> {
          IdleClock.Timer first = clock.start(vertx, 50, () -> calls.add("first"));
          clock.start(vertx, 50, () -> calls.add("second"));
          first.restart();
        });

    assertThat(calls.poll(30, TimeUnit.SECONDS)).isEqualTo("second");
    assertThat(calls.poll(30, TimeUnit.SECONDS)).isEqualTo("first");
  }

  @Test
  void one_may_stop_itself_and_others_when_it_is_called() throws InterruptedException {
    BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    List<IdleClock.Timer> timers = new ArrayList<>();
    onLoop(
        () -> {
          for (String name : List.of("a", "b", "c")) {
            timers.add(
                clock.start(
                    vertx,
                    20,
                    () -> {
                      calls.add(name);
                      timers.get(0).stop();
                      timers.get(1).stop();
                    }));
          }
        });

    assertThat(calls.poll(30, TimeUnit.SECONDS)).isEqualTo("a");
    assertThat(calls.poll(30, TimeUnit.SECONDS)).isEqualTo("c");
    assertThat(calls.poll(30, TimeUnit.SECONDS)).isEqualTo("c");
  }
}
