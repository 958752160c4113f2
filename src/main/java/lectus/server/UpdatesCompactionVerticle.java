package lectus.server;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import lectus.store.StoreFailures;
import lectus.updates.UpdatesCompaction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compacts the store's updates log in the background, step after step as long as there is more than
 * one step's rows, else now and then. Every server tries, and one at a time has the lease for it,
 * which it gives back when it stops.
 */
final class UpdatesCompactionVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(UpdatesCompactionVerticle.class);
  private static final long PAUSE_MILLIS = 2_000;

  /** A pause that timers have, for other work of this thread to come in between. */
  private static final long NO_PAUSE_MILLIS = 1;

  private final UpdatesCompaction compaction;
  private boolean stopped;

  UpdatesCompactionVerticle(UpdatesCompaction compaction) {
    this.compaction = compaction;
  }

  @Override
  public Future<?> start() {
    schedule(PAUSE_MILLIS);
    return Future.succeededFuture();
  }

  /** On the thread of the steps: none is under way, and none may take the lease again. */
  @Override
  public Future<?> stop() {
    stopped = true;
    try {
      compaction.giveBack();
    } catch (Throwable e) {
      LOG.info("The lease of the updates log's compaction is left to lapse: {}", e.toString());
    }
    return Future.succeededFuture();
  }

  private void schedule(long pauseMillis) {
    vertx.setTimer(pauseMillis, timer -> schedule(isBehind() ? NO_PAUSE_MILLIS : PAUSE_MILLIS));
  }

  /** Goes one step; whether more are to follow at once. */
  private boolean isBehind() {
    try {
      return !stopped && compaction.step();
    } catch (FDBException e) {
      // Whoever writes hears of a store in trouble, and the store has said so itself.
      if (StoreFailures.errorOf(e).isEmpty()) {
        LOG.warn("The updates log could not be compacted", e);
      }
      return false;
    } catch (Throwable e) {
      if (!StoreFailures.isSilence(e)) {
        LOG.warn("The updates log could not be compacted", e);
      }
      return false;
    }
  }
}
