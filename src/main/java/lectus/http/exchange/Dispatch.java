package lectus.http.exchange;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.limits.RequestThreads;
import lectus.http.limits.RequestThreads.Kind;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;
import lectus.store.ReadTimeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The work of one request that other threads do; its results come back to the event loop. */
public final class Dispatch {
  private static final Logger LOG = LoggerFactory.getLogger(Dispatch.class);

  private final RequestThreads threads;
  private final Context context;
  private final Object client;
  private final AtomicBoolean hasLeft;
  private final Duration patience;
  private final StageNotes stages;

  /**
   * @param client among whose work it is
   * @param hasLeft whether the client has given up the request; over HTTP/2 it may keep its
   *     connection
   * @param patience how long a client waits before it is answered 503
   */
  Dispatch(
      RequestThreads threads,
      Context context,
      Object client,
      AtomicBoolean hasLeft,
      Duration patience,
      StageNotes stages) {
    this.threads = threads;
    this.context = context;
    this.client = client;
    this.hasLeft = hasLeft;
    this.patience = patience;
    this.stages = stages;
  }

  /**
   * Work that only reads. It is dropped if the client leaves before it starts, and given up if the
   * client has waited too long, unless the client has a part of its answer already.
   */
  <T> Future<T> read(Kind kind, Callable<T> work) {
    boolean isAwaited = kind != Kind.LONG_ANSWER && kind != Kind.LONG_FEED;
    return started(true, isAwaited ? patience : null, threads.of(client, kind), work);
  }

  /** Work that may write: it is done even if the client leaves. */
  <T> Future<T> write(Kind kind, Callable<T> work) {
    return started(false, patience, threads.of(client, kind), work);
  }

  /** As {@link #write}, for changes to a database as a whole, on threads of their own. */
  <T> Future<T> change(Callable<T> work) {
    return started(false, patience, threads.ofChanges(client), work);
  }

  private <T> Future<T> started(
      boolean isDroppable, Duration patience, Executor executor, Callable<T> work) {
    Work<T> started = new Work<>(context, isDroppable, patience, noted(work));
    started.hasLeft = hasLeft;
    return started.on(executor);
  }

  /** Work that notes how long it has waited for its thread, and for what it waits then. */
  private <T> Callable<T> noted(Callable<T> work) {
    if (stages == StageNotes.NONE) {
      return work;
    }
    long begun = stages.begin();
    return () -> {
      stages.end(Stage.TURN, begun);
      return stages.during(work);
    };
  }

  /** Returns the readers' threads for this client. The executor keeps no request. */
  Executor readers(Kind kind) {
    Executor readers = threads.of(client, kind);
    AtomicBoolean left = hasLeft;
    return task -> {
      if (task instanceof Work<?> work) {
        work.hasLeft = left;
      }
      readers.execute(task);
    };
  }

  /**
   * Does work that may block on another thread; the result comes back to an event loop. It is
   * dropped if its client leaves before it starts.
   *
   * @return fails with service_unavailable (503) if the executor takes no more
   */
  public static <T> Future<T> to(Executor executor, Context loop, Callable<T> work) {
    return new Work<>(loop, true, null, work).on(executor);
  }

  /**
   * As {@link #to}, for a client with limited patience: fails with service_unavailable (503) if the
   * work has not begun by then, or the store does not answer. The work's requests to the store have
   * the time that is left.
   */
  public static <T> Future<T> inTime(
      Duration patience, Executor executor, Context loop, Callable<T> work) {
    return new Work<>(loop, true, patience, work).on(executor);
  }

  /** Runs a task on an event loop; does nothing if the server has stopped. */
  public static void post(Context loop, Runnable task) {
    try {
      loop.runOnContext(none -> task.run());
    } catch (RejectedExecutionException stopped) {
      LOG.debug("The event loop is gone", stopped);
    }
  }

  /** One call on another thread, and its result on the event loop. */
  private static final class Work<T> implements RequestThreads.Work {
    private final Context loop;
    private final boolean isDroppable;

    /** Null: nobody waits. */
    private final Duration patience;

    private final long sinceNanos = System.nanoTime();
    private final Callable<T> call;
    private final Promise<T> promise = Promise.promise();

    /** Set, if at all, before it is handed over. */
    private AtomicBoolean hasLeft;

    Work(Context loop, boolean isDroppable, Duration patience, Callable<T> call) {
      this.loop = loop;
      this.isDroppable = isDroppable;
      this.patience = patience;
      this.call = call;
    }

    Future<T> on(Executor executor) {
      try {
        executor.execute(this);
      } catch (RejectedExecutionException e) {
        promise.fail(LectusException.unavailable("The server is too busy."));
      }
      return promise.future();
    }

    @Override
    public void run() {
      if (isDroppable && hasLeft != null && hasLeft.get()) {
        drop();
        return;
      }
      T value;
      try {
        value = patience == null ? call.call() : callInTime();
      } catch (Throwable e) {
        fail(e);
        return;
      }
      post(loop, () -> promise.complete(value));
    }

    private T callInTime() throws Exception {
      Duration waited = Duration.ofNanos(System.nanoTime() - sinceNanos);
      return ReadTimeout.during(patience, waited, call);
    }

    private void fail(Throwable failure) {
      post(loop, () -> promise.fail(failure));
    }

    @Override
    public boolean isDroppable() {
      return isDroppable;
    }

    @Override
    public void drop() {
      fail(new ClientLeft());
    }

    @Override
    public boolean isAwaited() {
      return patience != null;
    }

    @Override
    public boolean isOverdue(long nanoTime) {
      return patience != null && nanoTime - sinceNanos >= patience.toNanos();
    }

    @Override
    public void giveUp(LectusError why) {
      fail(new LectusException(why));
    }
  }

  /**
   * Thrown when work was not done because its client has left. It has no stack trace, since it is
   * not a defect.
   */
  static final class ClientLeft extends RuntimeException {
    static final LectusError ERROR = new LectusError.Unavailable("The client has left.", 0);

    ClientLeft() {
      super(ERROR.reason(), null, false, false);
    }
  }
}
