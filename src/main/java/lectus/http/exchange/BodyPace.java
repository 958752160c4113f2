package lectus.http.exchange;

/** The rate at which the body of one request arrives. For the connection's event loop. */
final class BodyPace {
  /** The lowest average rate after the grace period, in bytes a second. */
  static final int LEAST_RATE = 1_000;

  private final int graceSeconds;
  private final Runnable tooSlow;
  private long bytes;
  private long seconds;

  /**
   * @param graceSeconds that do not count
   * @param tooSlow is run at most once
   */
  BodyPace(int graceSeconds, Runnable tooSlow) {
    this.graceSeconds = graceSeconds;
    this.tooSlow = tooSlow;
  }

  void arrived(int more) {
    bytes += more;
  }

  /**
   * Counts one second in which the server could have read, and returns whether the body is too
   * slow.
   */
  boolean isTooSlow() {
    seconds++;
    return bytes < (seconds - graceSeconds) * LEAST_RATE;
  }

  void giveUp() {
    tooSlow.run();
  }
}
