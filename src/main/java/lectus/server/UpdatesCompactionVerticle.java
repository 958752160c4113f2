package lectus.server;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.Optional;
import lectus.store.StoreFailures;
import lectus.task.RunningTask;
import lectus.task.Tasks;
import lectus.updates.UpdatesCompaction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compacts the store's updates log in the background, step after step while there is more than one
 * step's rows, else now and then. Every server tries. One at a time has the lease for it, which it
 * gives back when it stops.
 */
final class UpdatesCompactionVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(UpdatesCompactionVerticle.class);
  private static final long PAUSE_MILLIS = 2_000;

  /** The shortest pause that timers have; it lets other work of this thread run in between. */
  private static final long NO_PAUSE_MILLIS = 1;

  private final UpdatesCompaction compaction;
  private final Tasks tasks;
  private Optional<RunningTask> round = Optional.empty();
  private boolean stopped;

  UpdatesCompactionVerticle(UpdatesCompaction compaction, Tasks tasks) {
    this.tasks = tasks;
    this.compaction = compaction;
  }

  @Override
  public Future<?> start() {
    schedule(PAUSE_MILLIS);
    return Future.succeededFuture();
  }

  /** Runs on the thread of the steps: no step is running, and none may take the lease again. */
  @Override
  public Future<?> stop() {
    stopped = true;
    show(false);
    try {
      compaction.giveBack();
    } catch (Throwable e) {
      LOG.info(
          "The lease of the updates log's compaction was not given back; it expires: {}",
          e.toString());
    }
    return Future.succeededFuture();
  }

  private void schedule(long pauseMillis) {
    vertx.setTimer(pauseMillis, timer -> schedule(isBehind() ? NO_PAUSE_MILLIS : PAUSE_MILLIS));
  }

  /** What takes more than one step is shown as a task. */
  private boolean show(boolean isBehind) {
    if (isBehind && round.isEmpty()) {
      round = Optional.of(tasks.begin("updates_log_compaction"));
    }
    round.ifPresent(task -> task.advance(1));
    if (!isBehind) {
      round.ifPresent(RunningTask::close);
      round = Optional.empty();
    }
    return isBehind;
  }

  /** Runs one step; returns whether more are to follow at once. */
  private boolean isBehind() {
    try {
      return show(!stopped && compaction.step());
    } catch (FDBException e) {
      // Writers get the errors of a store in trouble, and the store has logged them itself.
      if (StoreFailures.foreseen(e).isEmpty()) {
        LOG.warn("The updates log could not be compacted", e);
      }
      return show(false);
    } catch (Throwable e) {
      if (!StoreFailures.isSilence(e)) {
        LOG.warn("The updates log could not be compacted", e);
      }
      return show(false);
    }
  }
}
