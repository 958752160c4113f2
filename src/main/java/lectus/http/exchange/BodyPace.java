package lectus.http.exchange;

/** How fast the body of one request arrives. For the connection's event loop. */
final class BodyPace {
  /** Fewer bytes a second, on average behind the grace, are too slow. */
  static final int LEAST_RATE = 1_000;

  private final int graceSeconds;
  private final Runnable tooSlow;
  private long bytes;
  private long seconds;

  /**
   * @param graceSeconds that do not count
   * @param tooSlow told once, and then no more
   */
  BodyPace(int graceSeconds, Runnable tooSlow) {
    this.graceSeconds = graceSeconds;
    this.tooSlow = tooSlow;
  }

  void arrived(int more) {
    bytes += more;
  }

  /** A second has passed in which the server could have read. Whether the body is too slow. */
  boolean isTooSlow() {
    seconds++;
    return bytes < (seconds - graceSeconds) * LEAST_RATE;
  }

  void giveUp() {
    tooSlow.run();
  }
}
