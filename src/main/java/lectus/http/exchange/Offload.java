package lectus.http.exchange;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import lectus.error.LectusError;
import lectus.error.LectusException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Work that may wait, done on another thread, whose result comes back to an event loop. */
public final class Offload {
  private static final Logger LOG = LoggerFactory.getLogger(Offload.class);

  private Offload() {}

  /** Fails with service_unavailable (503) when the executor takes no more. */
  public static <T> Future<T> to(Executor executor, Context loop, Callable<T> work) {
    Promise<T> promise = Promise.promise();
    try {
      executor.execute(() -> run(loop, work, promise));
    } catch (RejectedExecutionException e) {
      promise.fail(new LectusException(new LectusError.Unavailable("The server is too busy.", 1)));
    }
    return promise.future();
  }

  private static <T> void run(Context loop, Callable<T> work, Promise<T> promise) {
    T value;
    try {
      value = work.call();
    } catch (Throwable e) {
      post(loop, () -> promise.fail(e));
      return;
    }
    post(loop, () -> promise.complete(value));
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
