package lectus.server;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets feeds use a part of the readers' threads only, so that they never keep other reads waiting.
 */
final class FeedShare implements Executor {
  private static final Logger LOG = LoggerFactory.getLogger(FeedShare.class);

  private final Executor readers;
  private final int mostAtOnce;
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private int running;

  FeedShare(Executor readers, int mostAtOnce) {
    this.readers = readers;
    this.mostAtOnce = mostAtOnce;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      if (running == mostAtOnce) {
        waiting.add(task);
        return;
      }
      running++;
    }
    start(task);
  }

  private void start(Runnable task) {
    try {
      readers.execute(() -> runAllFrom(task));
    } catch (RuntimeException refused) {
      leave();
      throw refused;
    }
  }

  /** Goes on with what waits, on the thread that it has got. */
  private void runAllFrom(Runnable first) {
    for (Runnable task = first; task != null; task = nextOrLeave()) {
      run(task);
    }
  }

  /** A place that were lost to a defect would be lost to all feeds. */
  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.error("A feed's work failed", e);
    }
  }

  private synchronized void leave() {
    running--;
  }

  private synchronized Runnable nextOrLeave() {
    Runnable next = waiting.poll();
    if (next == null) {
      running--;
    }
    return next;
  }
}
