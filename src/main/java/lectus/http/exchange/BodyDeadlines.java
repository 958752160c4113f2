package lectus.http.exchange;

import io.vertx.core.Vertx;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives up bodies that arrive too slowly: each holds memory and a connection. Seconds are counted
 * by the event loop, so that time in which the process stands still does not count against clients.
 */
final class BodyDeadlines {
  private static final Logger LOG = LoggerFactory.getLogger(BodyDeadlines.class);
  private static final long SECOND_MILLIS = 1_000;

  private final int graceSeconds;
  private final Set<BodyPace> arriving = new HashSet<>();

  /**
   * @param graceSeconds that a body may take at any rate
   */
  BodyDeadlines(int graceSeconds) {
    this.graceSeconds = graceSeconds;
  }

  /** Starts checking the bodies of the calling event loop. */
  void start(Vertx vertx) {
    vertx.setPeriodic(SECOND_MILLIS, timer -> secondPassed());
  }

  /**
   * Registers a body that begins to arrive.
   *
   * @param held the memory of its request
   * @param tooSlow is run if the body is given up
   */
  BodyPace begin(HeldMemory held, Runnable tooSlow) {
    BodyPace pace = new BodyPace(graceSeconds, held::keepsOthersWaiting, tooSlow);
    arriving.add(pace);
    return pace;
  }

  /** Takes a body again that was ended while the server did not wait for it. */
  void goOn(BodyPace pace) {
    arriving.add(pace);
  }

  void end(BodyPace pace) {
    arriving.remove(pace);
  }

  /** One after the other: what the first one held may be enough for those who wait. */
  private void secondPassed() {
    for (BodyPace pace : List.copyOf(arriving)) {
      if (arriving.contains(pace) && pace.isTooSlow()) {
        arriving.remove(pace);
        giveUp(pace);
      }
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
