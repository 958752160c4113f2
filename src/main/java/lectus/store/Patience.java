package lectus.store;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * How long the store may keep silent while a thread works for a client that waits. The first
 * transaction has the time that the wait for a thread has left. Each transaction that the store
 * answers gives the next one the whole time again, so work that goes on is never cut off.
 */
public final class Patience {
  private static final ThreadLocal<Patience> OF_THREAD = new ThreadLocal<>();

  /** A store that is well answers by then, however late the work's turn has come. */
  static final Duration SHORTEST = Duration.ofSeconds(1);

  private final Duration whole;
  private Duration next;

  private Patience(Duration whole, Duration waited) {
    this.whole = whole;
    this.next = whole.minus(waited);
  }

  /**
   * Does work for a client that waits.
   *
   * @param whole how long the store may keep silent
   * @param waited how much of it the client waited before the work began
   */
  public static <T> T during(Duration whole, Duration waited, Callable<T> work) throws Exception {
    OF_THREAD.set(new Patience(whole, waited));
    try {
      return work.call();
    } finally {
      OF_THREAD.remove();
    }
  }

  /** How long a transaction may take that may otherwise take {@code most}. */
  static Duration limit(Duration most) {
    Patience patience = OF_THREAD.get();
    if (patience == null) {
      return most;
    }
    Duration left = patience.next.compareTo(SHORTEST) < 0 ? SHORTEST : patience.next;
    return left.compareTo(most) < 0 ? left : most;
  }

  /** The store has answered a transaction of this thread. */
  static void answered() {
    Patience patience = OF_THREAD.get();
    if (patience != null) {
      patience.next = patience.whole;
    }
  }
}
