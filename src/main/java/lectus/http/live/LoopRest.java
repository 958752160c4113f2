package lectus.http.live;

import io.vertx.core.Context;
import java.util.concurrent.TimeUnit;

/**
 * Leaves half of an event loop's time to other work than handing out pages. Rows that come
 * meanwhile make one page, whose delivery costs little more than that of one row.
 */
final class LoopRest {
  private static final long LONGEST_MILLIS = 20;

  private LoopRest() {}

  /**
   * @param startNanos when the work began, after which the loop rests
   */
  static void after(long startNanos, Context context, Runnable next) {
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    if (tookMillis == 0) {
      next.run();
    } else {
      context.owner().setTimer(Math.min(tookMillis, LONGEST_MILLIS), id -> next.run());
    }
  }
}
