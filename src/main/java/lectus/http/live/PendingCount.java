package lectus.http.live;

import java.util.OptionalLong;
import lectus.feed.FeedEnd;
import lectus.feed.LivePage;
import lectus.feed.ResumePoint;

/**
 * How much follows what a listener was handed. Few are told, so it is counted at the end alone, and
 * only where no page has said it.
 */
final class PendingCount {
  /** Where nobody counts there is something, if not how much. */
  static final long SOME = 1;

  private long known = LivePage.NOT_COUNTED;

  /**
   * @param rows of the page, from its first on, after which the listener stands
   */
  void standsIn(LivePage<?> page, int rows) {
    known = page.pendingBehind(rows);
  }

  /** What the client is told; empty if that has to be counted in the store. */
  OptionalLong toTell(FeedEnd reason, ResumePoint<?> at) {
    if (known != LivePage.NOT_COUNTED) {
      return OptionalLong.of(known);
    }
    // Where the server stops nobody waits for the store any more.
    boolean isCounted = at.tellsPending() && !(reason instanceof FeedEnd.ServerStopping);
    return isCounted ? OptionalLong.empty() : OptionalLong.of(SOME);
  }
}
