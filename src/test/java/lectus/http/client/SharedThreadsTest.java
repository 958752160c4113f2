package lectus.http.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class SharedThreadsTest {
  private static final int STEPS = 2_000;
  private static final long LOST_NANOS = 20_000_000_000L;

  /** Each step comes when the one before has run, but may still have its turn. */
  @Test
  void a_step_that_comes_while_another_one_leaves_is_not_forgotten() throws Exception {
    Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    Thread runner = new Thread(() -> runAll(tasks));
    runner.start();
    try {
      Executor turns = new SharedThreads(tasks::add, 1).of("run");
      AtomicInteger ran = new AtomicInteger();
      for (int i = 0; i < STEPS; i++) {
        turns.execute(ran::incrementAndGet);
        long begun = System.nanoTime();
        while (ran.get() == i && System.nanoTime() - begun < LOST_NANOS) {
          Thread.onSpinWait();
        }
        assertThat(ran.get()).isEqualTo(i + 1);
      }
    } finally {
      runner.interrupt();
      runner.join();
    }
  }

  private static void runAll(Queue<Runnable> tasks) {
    while (!Thread.currentThread().isInterrupted()) {
      Runnable task = tasks.poll();
      if (task == null) {
        Thread.onSpinWait();
      } else {
        task.run();
      }
    }
  }
}
