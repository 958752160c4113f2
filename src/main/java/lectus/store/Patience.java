package lectus.store;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * How long the store may be silent to what a thread does for somebody who waits. The first
 * transaction has what is left behind the wait for a thread; when the store has answered one, the
 * next has the whole time again: work that goes on is not cut, however long it takes.
 */
public final class Patience {
  private static final ThreadLocal<Patience> OF_THREAD = new ThreadLocal<>();
  private static final Duration SHORTEST = Duration.ofMillis(1);

  private final Duration whole;
  private Duration next;

  private Patience(Duration whole, Duration waited) {
    this.whole = whole;
    this.next = whole.minus(waited);
  }

  /**
   * Does work with so much patience.
   *
   * @param waited what of it was used up before
   */
  public static <T> T during(Duration whole, Duration waited, Callable<T> work) throws Exception {
    OF_THREAD.set(new Patience(whole, waited));
    try {
      return work.call();
    } finally {
      OF_THREAD.remove();
    }
  }

  /** What a transaction may take that might take {@code most}. */
  static Duration limit(Duration most) {
    Patience patience = OF_THREAD.get();
    if (patience == null || patience.next.compareTo(most) >= 0) {
      return most;
    }
    return patience.next.compareTo(SHORTEST) < 0 ? SHORTEST : patience.next;
  }

  /** The store has answered a transaction of this thread. */
  static void answered() {
    Patience patience = OF_THREAD.get();
    if (patience != null) {
      patience.next = patience.whole;
    }
  }
}
