package lectus.http.exchange;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.limits.ReaderTurns.Droppable;
import lectus.http.limits.ReaderTurns.Impatient;
import lectus.store.ReadTimeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that may block, done on another thread; its result comes back to an event loop.
 *
 * @param <T> the result
 */
public final class WorkerDispatch<T> {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerDispatch.class);

  private final Context loop;
  private final Callable<T> work;
  private final Promise<T> promise = Promise.promise();

  private WorkerDispatch(Context loop, Callable<T> work) {
    this.loop = loop;
    this.work = work;
  }

  /**
   * Fails with service_unavailable (503) if the executor takes no more. Work is dropped if its
   * client leaves before it starts; the future fails then, too.
   */
  public static <T> Future<T> to(Executor executor, Context loop, Callable<T> work) {
    WorkerDispatch<T> offload = new WorkerDispatch<>(loop, work);
    return offload.on(executor, new Dropped(offload));
  }

  /**
   * As {@link #to}, for a client with limited patience: fails with service_unavailable (503) if the
   * work has not begun by then, or the store does not answer. The work's requests to the store have
   * the time that is left.
   */
  public static <T> Future<T> inTime(
      Duration patience, Executor executor, Context loop, Callable<T> work) {
    WorkerDispatch<T> offload = new WorkerDispatch<>(loop, work);
    return offload.on(executor, new DroppedInTime(offload.begunWithin(patience)));
  }

  /** As {@link #inTime}, but the work is done even if its client leaves. */
  static <T> Future<T> forCertain(
      Duration patience, Executor executor, Context loop, Callable<T> work) {
    WorkerDispatch<T> offload = new WorkerDispatch<>(loop, work);
    return offload.on(executor, offload.begunWithin(patience));
  }

  private Future<T> on(Executor executor, Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      promise.fail(new LectusException(new LectusError.Unavailable("The server is too busy.")));
    }
    return promise.future();
  }

  private InTime begunWithin(Duration patience) {
    return new InTime(this, System.nanoTime(), patience);
  }

  private void run() {
    settle(work);
  }

  private void settle(Callable<T> working) {
    T value;
    try {
      value = working.call();
    } catch (Throwable e) {
      fail(e);
      return;
    }
    post(loop, () -> promise.complete(value));
  }

  private void fail(Throwable failure) {
    post(loop, () -> promise.fail(failure));
  }

  private record Dropped(WorkerDispatch<?> offload) implements Droppable {
    @Override
    public void run() {
      offload.run();
    }

    @Override
    public void drop() {
      offload.fail(new ClientLeft());
    }
  }

  private record InTime(WorkerDispatch<?> offload, long sinceNanos, Duration patience)
      implements Impatient {
    @Override
    public void run() {
      offload.runWith(patience, Duration.ofNanos(System.nanoTime() - sinceNanos));
    }

    @Override
    public boolean isOverdue(long nanoTime) {
      return nanoTime - sinceNanos >= patience.toNanos();
    }

    @Override
    public void giveUp(LectusError why) {
      offload.fail(new LectusException(why));
    }
  }

  private void runWith(Duration patience, Duration waited) {
    settle(() -> ReadTimeout.during(patience, waited, work));
  }

  private record DroppedInTime(InTime request) implements Droppable, Impatient {
    @Override
    public void run() {
      request.run();
    }

    @Override
    public void drop() {
      request.offload.fail(new ClientLeft());
    }

    @Override
    public boolean isOverdue(long nanoTime) {
      return request.isOverdue(nanoTime);
    }

    @Override
    public void giveUp(LectusError why) {
      request.giveUp(why);
    }
  }

  /** Runs a task on an event loop; does nothing if the server has stopped. */
  public static void post(Context loop, Runnable task) {
    try {
      loop.runOnContext(none -> task.run());
    } catch (RejectedExecutionException stopped) {
      LOG.debug("The event loop is gone", stopped);
    }
  }
}
