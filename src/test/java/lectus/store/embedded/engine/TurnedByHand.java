package lectus.store.embedded.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;

/** An executor and a timer that do nothing until the test says so, on the test's own thread. */
final class TurnedByHand implements Executor, EngineTimer {
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private Runnable tick = () -> {};

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
  }

  @Override
  public Handle every(Duration period, Runnable task) {
    tick = task;
    return () -> tick = () -> {};
  }

  /** Runs what waits, and what that leaves behind, until nothing waits. */
  void run() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  /** Lets the timer strike once. */
  void tick() {
    tick.run();
    run();
  }
}
