package lectus.http.exchange;

import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives up bodies that arrive too slowly: each holds memory and a connection. Seconds are counted
 * as the event loop sees them, so that none passes for the clients while the process stands still.
 */
final class BodyPaces {
  private static final Logger LOG = LoggerFactory.getLogger(BodyPaces.class);
  private static final long SECOND_MILLIS = 1_000;

  private final int graceSeconds;
  private final Set<BodyPace> arriving = new HashSet<>();

  /**
   * @param graceSeconds that a body may take at whatever rate
   */
  BodyPaces(int graceSeconds) {
    this.graceSeconds = graceSeconds;
  }

  /** Looks after the bodies on the event loop that calls this. */
  void start(Vertx vertx) {
    vertx.setPeriodic(SECOND_MILLIS, timer -> secondPassed());
  }

  /**
   * A body begins to arrive.
   *
   * @param tooSlow is run if it is given up
   */
  BodyPace begin(Runnable tooSlow) {
    BodyPace pace = new BodyPace(graceSeconds, tooSlow);
    arriving.add(pace);
    return pace;
  }

  void end(BodyPace pace) {
    arriving.remove(pace);
  }

  private void secondPassed() {
    List<BodyPace> slow = new ArrayList<>();
    for (BodyPace pace : arriving) {
      if (pace.isTooSlow()) {
        slow.add(pace);
      }
    }
    for (BodyPace pace : slow) {
      arriving.remove(pace);
      giveUp(pace);
    }
  }

  private static void giveUp(BodyPace pace) {
    try {
      pace.giveUp();
    } catch (Throwable failure) {
      LOG.error("A body that came too slowly could not be given up", failure);
    }
  }
}
