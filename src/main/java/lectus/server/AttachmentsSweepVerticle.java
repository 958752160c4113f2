package lectus.server;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import lectus.attachment.StoreSweep;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps contents of attachments that nobody refers to, database after database, and then waits a
 * few minutes. Every server tries. One at a time has the lease for it, which it gives back when it
 * stops.
 */
final class AttachmentsSweepVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(AttachmentsSweepVerticle.class);
  private static final long PAUSE_MILLIS = 300_000;

  /** The shortest pause that timers have; it lets other work of this thread run in between. */
  private static final long NO_PAUSE_MILLIS = 1;

  private final StoreSweep sweep;
  private boolean stopped;

  AttachmentsSweepVerticle(StoreSweep sweep) {
    this.sweep = sweep;
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
    try {
      sweep.giveBack();
    } catch (Throwable e) {
      LOG.info("The lease of the attachments' sweep was not given back: {}", e.toString());
    }
    return Future.succeededFuture();
  }

  private void schedule(long pauseMillis) {
    vertx.setTimer(pauseMillis, timer -> schedule(goesOn() ? NO_PAUSE_MILLIS : PAUSE_MILLIS));
  }

  private boolean goesOn() {
    try {
      return !stopped && sweep.step();
    } catch (FDBException e) {
      // Writers get the errors of a store in trouble, and the store has logged them itself.
      if (StoreFailures.foreseen(e).isEmpty()) {
        LOG.warn("Attachments could not be swept", e);
      }
      return false;
    } catch (Throwable e) {
      if (!StoreFailures.isSilence(e)) {
        LOG.warn("Attachments could not be swept", e);
      }
      return false;
    }
  }
}
