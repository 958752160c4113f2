package lectus.http.exchange;

import io.vertx.core.Context;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import lectus.http.limits.ReaderTurns;
import lectus.http.limits.ReaderTurns.Kind;
import lectus.http.message.Method;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;

/** The work of one request that other threads do; its results come back to the event loop. */
final class DispatchedWork {
  private final ReaderTurns turns;
  private final Context context;
  private final Object client;
  private final Disconnect presence;
  private final Duration patience;
  private final StageNotes stages;

  /**
   * @param client whose turns the work takes
   */
  DispatchedWork(
      HttpLoop loop, Context context, Object client, Disconnect presence, StageNotes stages) {
    this.stages = stages;
    this.turns = loop.readers();
    this.context = context;
    this.client = client;
    this.presence = presence;
    this.patience = Duration.ofSeconds(loop.settings().requestSeconds());
  }

  /** Returns how long a client waits before it is answered 503. */
  Duration patience() {
    return patience;
  }

  /** Changes a database as a whole, on threads of their own. */
  <T> Future<T> change(Callable<T> work) {
    return WorkerDispatch.forCertain(
        patience, presence.guarding(turns.ofChanges(client)), context, noted(work));
  }

  /** Work that only reads is dropped if its client leaves before it starts; other work is done. */
  <T> Future<T> of(Method method, Kind kind, Callable<T> work) {
    return method == Method.GET || method == Method.HEAD
        ? WorkerDispatch.inTime(patience, readers(kind), context, noted(work))
        : WorkerDispatch.forCertain(patience, readers(kind), context, noted(work));
  }

  /** Work that only reads. */
  <T> Future<T> read(Kind kind, Callable<T> work) {
    boolean isWaitedFor = kind != Kind.LONG_ANSWER && kind != Kind.LONG_FEED;
    return isWaitedFor
        ? WorkerDispatch.inTime(patience, readers(kind), context, noted(work))
        : WorkerDispatch.to(readers(kind), context, noted(work));
  }

  /** Work that notes how long it has waited for its thread, and for what it waits then. */
  private <T> Callable<T> noted(Callable<T> work) {
    if (!stages.isOn()) {
      return work;
    }
    long begun = stages.begin();
    return () -> {
      stages.end(Stage.TURN, begun);
      return stages.during(work);
    };
  }

  /** Returns the readers' threads for this client. */
  Executor readers(Kind kind) {
    return presence.guarding(turns.of(client, kind));
  }
}
