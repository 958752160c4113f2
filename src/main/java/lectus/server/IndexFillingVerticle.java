package lectus.server;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import lectus.document.index.IndexFilling;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds new indexes in the background, step after step while there are any, else it looks now and
 * then. Every server does; each index is built by one at a time.
 */
final class IndexFillingVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(IndexFillingVerticle.class);
  private static final long PAUSE_MILLIS = 250;

  /** After a failure. */
  private static final long LONG_PAUSE_MILLIS = 5_000;

  /** The shortest pause that timers have; it lets other work of this thread run in between. */
  private static final long NO_PAUSE_MILLIS = 1;

  private final IndexFilling filling;
  private boolean stopped;

  IndexFillingVerticle(IndexFilling filling) {
    this.filling = filling;
  }

  @Override
  public Future<?> start() {
    schedule(PAUSE_MILLIS);
    return Future.succeededFuture();
  }

  /** Runs on the thread of the steps: no step is running, and none may take a lease again. */
  @Override
  public Future<?> stop() {
    stopped = true;
    try {
      filling.giveBack();
    } catch (Throwable e) {
      LOG.info(
          "The leases of unfinished indexes were not given back; they expire: {}", e.toString());
    }
    return Future.succeededFuture();
  }

  private void schedule(long pauseMillis) {
    vertx.setTimer(pauseMillis, timer -> schedule(step()));
  }

  /** Runs one step; returns the pause before the next. */
  private long step() {
    try {
      return !stopped && filling.step() ? NO_PAUSE_MILLIS : PAUSE_MILLIS;
    } catch (FDBException e) {
      // Writers get the errors of a store in trouble, and the store has logged them itself.
      if (StoreFailures.foreseen(e).isEmpty()) {
        LOG.warn("An index could not be built", e);
      }
    } catch (Throwable e) {
      if (!StoreFailures.isSilence(e)) {
        LOG.warn("An index could not be built", e);
      }
    }
    return LONG_PAUSE_MILLIS;
  }
}
