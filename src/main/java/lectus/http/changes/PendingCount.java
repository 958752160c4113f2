package lectus.http.changes;

import java.util.OptionalLong;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.LivePage;
import lectus.changes.page.ResumePoint;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.StoreFailures;

/**
 * The number of rows that follow what a listener has received. Few clients are told, so it is
 * counted only at the end, and only if no page has given it.
 */
final class PendingCount {
  /** Stands for an unknown number of rows, at least one. */
  static final long SOME = 1;

  private long known = LivePage.NOT_COUNTED;

  /**
   * @param rows of the page, from its first on, after which the listener stands
   */
  void standsIn(LivePage<?> page, int rows) {
    known = page.pendingBehind(rows);
  }

  /** Whether a count that failed is no reason to break off a complete feed. */
  static boolean isNotWorth(Throwable failure) {
    return StoreFailures.isSilence(failure)
        || (failure instanceof LectusException known
            && known.error() instanceof LectusError.Unavailable);
  }

  /** Returns what the client is told; empty if it has to be counted in the store. */
  OptionalLong toTell(FeedEnd reason, ResumePoint<?> at) {
    if (known != LivePage.NOT_COUNTED) {
      return OptionalLong.of(known);
    }
    // A stopping server does not wait for the store any more.
    boolean isCounted = at.tellsPending() && !(reason instanceof FeedEnd.ServerStopping);
    return isCounted ? OptionalLong.empty() : OptionalLong.of(SOME);
  }
}
