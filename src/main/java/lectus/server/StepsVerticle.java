package lectus.server;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Works in the background on a thread of its own: step after step while there is something to do,
 * else it looks now and then. It gives its leases back when it stops.
 */
final class StepsVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(StepsVerticle.class);

  /** The shortest pause that timers have; it lets other work of this thread run in between. */
  private static final long NO_PAUSE_MILLIS = 1;

  private final String name;
  private final LeasedSteps steps;
  private final Pace pace;
  private boolean stopped;

  /**
   * How often it looks whether there is something to do.
   *
   * @param pauseMillis when there was nothing
   * @param afterFailureMillis when a step failed
   */
  record Pace(long pauseMillis, long afterFailureMillis) {
    static Pace every(long millis) {
      return new Pace(millis, millis);
    }
  }

  /**
   * @param name what is done, for the log
   */
  StepsVerticle(String name, LeasedSteps steps, Pace pace) {
    this.name = name;
    this.steps = steps;
    this.pace = pace;
  }

  @Override
  public Future<?> start() {
    schedule(pace.pauseMillis());
    return Future.succeededFuture();
  }

  /** Runs on the thread of the steps: no step is running, and none may take a lease again. */
  @Override
  public Future<?> stop() {
    stopped = true;
    try {
      steps.giveBack();
    } catch (Throwable e) {
      LOG.info("Leases were not given back, and expire ({}): {}", name, e.toString());
    }
    return Future.succeededFuture();
  }

  private void schedule(long pauseMillis) {
    vertx.setTimer(pauseMillis, timer -> schedule(step()));
  }

  /** Takes one step; returns the pause before the next. */
  private long step() {
    try {
      return !stopped && steps.step() ? NO_PAUSE_MILLIS : pace.pauseMillis();
    } catch (FDBException e) {
      // Writers get the errors of a store in trouble, and the store has logged them itself.
      if (StoreFailures.foreseen(e).isEmpty()) {
        LOG.warn("A step failed ({})", name, e);
      }
    } catch (Throwable e) {
      if (!StoreFailures.isSilence(e)) {
        LOG.warn("A step failed ({})", name, e);
      }
    }
    return pace.afterFailureMillis();
  }
}
