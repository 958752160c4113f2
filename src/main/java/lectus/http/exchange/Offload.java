package lectus.http.exchange;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.ReaderTurns.Droppable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that may wait, done on another thread, whose result comes back to an event loop.
 *
 * @param <T> the result
 */
public final class Offload<T> implements Droppable {
  private static final Logger LOG = LoggerFactory.getLogger(Offload.class);

  private final Context loop;
  private final Callable<T> work;
  private final Promise<T> promise = Promise.promise();

  private Offload(Context loop, Callable<T> work) {
    this.loop = loop;
    this.work = work;
  }

  /**
   * Fails with service_unavailable (503) when the executor takes no more. Work whose client leaves
   * before it starts is dropped; the future fails then, too.
   */
  public static <T> Future<T> to(Executor executor, Context loop, Callable<T> work) {
    Offload<T> offload = new Offload<>(loop, work);
    return offload.on(executor, offload);
  }

  /** As {@link #to}, but the work is done whether its client stays or not. */
  static <T> Future<T> forCertain(Executor executor, Context loop, Callable<T> work) {
    Offload<T> offload = new Offload<>(loop, work);
    return offload.on(executor, offload::run);
  }

  private Future<T> on(Executor executor, Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      promise.fail(new LectusException(new LectusError.Unavailable("The server is too busy.", 1)));
    }
    return promise.future();
  }

  @Override
  public void run() {
    T value;
    try {
      value = work.call();
    } catch (Throwable e) {
      post(loop, () -> promise.fail(e));
      return;
    }
    post(loop, () -> promise.complete(value));
  }

  @Override
  public void drop() {
    post(loop, () -> promise.fail(new ClientLeft()));
  }

  /** Runs something on an event loop, unless the server has stopped: nobody is there any more. */
  public static void post(Context loop, Runnable task) {
    try {
      loop.runOnContext(none -> task.run());
    } catch (RejectedExecutionException stopped) {
      LOG.debug("The event loop is gone", stopped);
    }
  }
}
