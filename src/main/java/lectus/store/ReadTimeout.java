package lectus.store;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * How long the store may stay silent while a thread works for a waiting client. The first
 * transaction gets the time left over from waiting for the thread. Each transaction that the store
 * answers restores the full time for the next one, so work that makes progress is never cut off.
 */
public final class ReadTimeout {
  private static final ThreadLocal<ReadTimeout> OF_THREAD = new ThreadLocal<>();

  /** A healthy store answers within this time, however late the work begins. */
  static final Duration SHORTEST = Duration.ofSeconds(1);

  /** What it may take to find out whether a write without an answer was stored. */
  public static final Duration FOR_SETTLING = Duration.ofSeconds(3);

  private final Duration whole;
  private Duration next;

  private ReadTimeout(Duration whole, Duration waited) {
    this.whole = whole;
    this.next = whole.minus(waited);
  }

  /**
   * Works for a waiting client.
   *
   * @param whole how long the store may stay silent
   * @param waited how much of that time the client waited before the work began
   */
  public static <T> T during(Duration whole, Duration waited, Callable<T> work) throws Exception {
    OF_THREAD.set(new ReadTimeout(whole, waited));
    try {
      return work.call();
    } finally {
      OF_THREAD.remove();
    }
  }

  /** Returns the time limit of a transaction whose limit is otherwise {@code most}. */
  static Duration limit(Duration most) {
    ReadTimeout patience = OF_THREAD.get();
    if (patience == null) {
      return most;
    }
    Duration left = patience.next.compareTo(SHORTEST) < 0 ? SHORTEST : patience.next;
    return left.compareTo(most) < 0 ? left : most;
  }

  /** Notes that the store has answered a transaction of this thread. */
  static void answered() {
    ReadTimeout patience = OF_THREAD.get();
    if (patience != null) {
      patience.next = patience.whole;
    }
  }
}
