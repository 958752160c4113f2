package lectus.store.embedded.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import lectus.store.embedded.engine.EngineOptions.EngineTimer;

/** An executor and a timer that act only when the test says so, on the test's thread. */
public final class TurnedByHand implements Executor, EngineTimer {
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

  /** Runs waiting tasks, and those that they add, until none waits. */
  public void run() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  /** Fires the timer once. */
  public void tick() {
    tick.run();
    run();
  }
}
