package lectus.http.exchange;

import java.util.function.BooleanSupplier;

/** The rate at which the body of one request arrives. For the connection's event loop. */
final class BodyPace {
  /** The lowest average rate after the grace period, in bytes a second. */
  static final int MIN_RATE = 1_000;

  /** The lowest rate while others wait for the memory that the body takes. */
  static final int RATE_BEFORE_OTHERS = 64 << 10;

  /** How many seconds in a row it may come slower. */
  static final int SECONDS_BEFORE_OTHERS = 4;

  private final int graceSeconds;
  private final BooleanSupplier keepsOthersWaiting;
  private final Runnable tooSlow;
  private long bytes;
  private long seconds;
  private long bytesBefore;
  private int secondsBeforeOthers;

  /**
   * @param graceSeconds that do not count
   * @param keepsOthersWaiting whether others wait for the memory that it takes
   * @param tooSlow is run at most once
   */
  BodyPace(int graceSeconds, BooleanSupplier keepsOthersWaiting, Runnable tooSlow) {
    this.keepsOthersWaiting = keepsOthersWaiting;
    this.graceSeconds = graceSeconds;
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
    seconds++;
    boolean isInTheWay =
        bytes - bytesBefore < RATE_BEFORE_OTHERS && keepsOthersWaiting.getAsBoolean();
    secondsBeforeOthers = isInTheWay ? secondsBeforeOthers + 1 : 0;
    bytesBefore = bytes;
    return bytes < (seconds - graceSeconds) * MIN_RATE
        || secondsBeforeOthers > SECONDS_BEFORE_OTHERS;
  }

  void giveUp() {
    tooSlow.run();
  }
}
