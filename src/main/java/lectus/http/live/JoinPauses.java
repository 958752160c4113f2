package lectus.http.live;

import lectus.feed.ResumePoint;

/**
 * How long a listener that was not let into a tail waits before it tries again: not at all if it
 * has come further since the last time, else longer and longer, lest it read in a circle. For one
 * event loop.
 */
final class JoinPauses<P extends ResumePoint<P>> {
  static final long FIRST_MILLIS = 50;
  static final long LONGEST_MILLIS = 5_000;

  /** Where it stood the last time; null if it has joined since. */
  private P refusedAt;

  private long nextMillis;

  /** Milliseconds before it is to read on, 0 for at once. */
  long refused(P position) {
    if (refusedAt == null || refusedAt.compareTo(position) != 0) {
      refusedAt = position;
      nextMillis = FIRST_MILLIS;
      return 0;
    }
    long pause = nextMillis;
    nextMillis = Math.min(2 * nextMillis, LONGEST_MILLIS);
    return pause;
  }

  void joined() {
    refusedAt = null;
  }
}
