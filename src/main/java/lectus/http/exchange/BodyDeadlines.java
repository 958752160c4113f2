package lectus.http.exchange;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives up bodies that arrive too slowly: each holds memory and a connection. Seconds are counted
 * by the event loop, so that time in which the process stands still does not count against clients.
 */
final class BodyDeadlines {
  private static final Logger LOG = LoggerFactory.getLogger(BodyDeadlines.class);

  private final int graceSeconds;
  final Set<Pace> arriving = new HashSet<>();

  /**
   * @param graceSeconds that a body may take at any rate
   */
  BodyDeadlines(int graceSeconds) {
    this.graceSeconds = graceSeconds;
  }

  /**
   * Registers a body that begins to arrive.
   *
   * @param held the memory of its request
   * @param tooSlow is run if the body is given up
   */
  Pace begin(HeldMemory held, Runnable tooSlow) {
    Pace pace = new Pace(graceSeconds, held.share::keepsOthersWaiting, tooSlow);
    arriving.add(pace);
    return pace;
  }

  /**
   * Gives up bodies, one after the other: what the first one held may be enough for those who wait.
   */
  void secondPassed() {
    for (Pace pace : List.copyOf(arriving)) {
      if (arriving.contains(pace) && pace.isTooSlow()) {
        arriving.remove(pace);
        giveUp(pace);
      }
    }
  }

  private static void giveUp(Pace pace) {
    try {
      pace.tooSlow.run();
    } catch (Throwable failure) {
      LOG.error("A body that came too slowly could not be given up", failure);
    }
  }

  /** The rate at which the body of one request arrives. For the connection's event loop. */
  static final class Pace {
    /** The lowest rate after the grace period, in bytes a second. */
    static final int MIN_RATE = 1_000;

    /** For how many seconds at most nothing need come of a body, however fast it was before. */
    static final int LONGEST_REST_SECONDS = 300;

    /** The lowest rate while others wait for the memory that the body takes. */
    static final int RATE_BEFORE_OTHERS = 64 << 10;

    /** How many seconds in a row it may come slower. */
    static final int SECONDS_BEFORE_OTHERS = 4;

    private final BooleanSupplier keepsOthersWaiting;
    private final Runnable tooSlow;
    private final long mostAhead;

    /** By how many bytes it is ahead of the lowest rate. */
    private long ahead;

    /** What came in the last second. */
    private long bytes;

    private int secondsBeforeOthers;

    /**
     * @param graceSeconds that do not count
     * @param keepsOthersWaiting whether others wait for the memory that it takes
     * @param tooSlow is run at most once
     */
    Pace(int graceSeconds, BooleanSupplier keepsOthersWaiting, Runnable tooSlow) {
      this.keepsOthersWaiting = keepsOthersWaiting;
      this.ahead = (long) MIN_RATE * graceSeconds;
      this.mostAhead = Math.max(ahead, (long) MIN_RATE * LONGEST_REST_SECONDS);
      this.tooSlow = tooSlow;
    }

    void arrived(int more) {
      bytes += more;
    }

    /**
     * Counts one second in which the server waited for the client, and returns whether the body is
     * too slow.
     */
    boolean isTooSlow() {
      boolean isInTheWay = bytes < RATE_BEFORE_OTHERS && keepsOthersWaiting.getAsBoolean();
      secondsBeforeOthers = isInTheWay ? secondsBeforeOthers + 1 : 0;
      ahead = Math.min(mostAhead, ahead + bytes) - MIN_RATE;
      bytes = 0;
      return ahead < 0 || secondsBeforeOthers > SECONDS_BEFORE_OTHERS;
    }
  }
}
