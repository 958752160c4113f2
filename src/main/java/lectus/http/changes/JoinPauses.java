package lectus.http.changes;

import lectus.changes.page.ResumePoint;

/**
 * The back-off of a listener that a tail did not admit: none if it has advanced since the last
 * attempt, else longer and longer, so that it does not read in a circle. For one event loop.
 */
final class JoinPauses<P extends ResumePoint<P>> {
  static final long FIRST_MILLIS = 50;
  static final long LONGEST_MILLIS = 5_000;

  /** Its position at the last refusal; null if it has joined since. */
  private P refusedAt;

  private long nextMillis;

  /** Returns the milliseconds to wait before it reads on, 0 for none. */
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
