package lectus.http.client;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Threads that run a few steps of each at a time, so that who has many steps, or waits for servers
 * that answer late, leaves threads to others. What waits is in order. Thread-safe.
 */
public final class SharedThreads {
  private final Executor threads;
  private final int most;
  private final Map<Object, Lane> lanes = new HashMap<>();

  /**
   * @param most steps of one at a time
   */
  public SharedThreads(Executor threads, int most) {
    this.threads = threads;
    this.most = most;
  }

  private static final class Lane {
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int running;
  }

  /** Returns what runs the steps of one, who is known by equality. */
  public Executor of(Object whose) {
    return step -> {
      synchronized (this) {
        Lane lane = lanes.computeIfAbsent(whose, none -> new Lane());
        if (lane.running == most) {
          lane.waiting.add(step);
          return;
        }
        lane.running++;
      }
      run(whose, step);
    };
  }

  private void run(Object whose, Runnable step) {
    try {
      threads.execute(
          () -> {
            try {
              step.run();
            } finally {
              next(whose);
            }
          });
    } catch (RuntimeException | Error refused) {
      // The server is stopping, and runs nothing more.
      leave(whose);
      throw refused;
    }
  }

  /** Who adds a step meanwhile either finds that one runs, or runs it. */
  private void next(Object whose) {
    Runnable step;
    synchronized (this) {
      step = lanes.get(whose).waiting.poll();
      if (step == null) {
        leave(whose);
        return;
      }
    }
    try {
      run(whose, step);
    } catch (RejectedExecutionException stopping) {
      // Nobody waits for the steps of a server that stops.
    }
  }

  private synchronized void leave(Object whose) {
    Lane lane = lanes.get(whose);
    lane.running--;
    if (lane.running == 0 && lane.waiting.isEmpty()) {
      lanes.remove(whose);
    }
  }
}
