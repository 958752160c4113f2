package lectus.metrics;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Told what one request, or several that share a transaction, waited for. A thread that works for a
 * request finds it here, so that the store need not know of requests. Thread-safe.
 */
public interface StageNotes {
  /** Where nobody wants to know. */
  StageNotes NONE = (stage, fromNanos, toNanos) -> {};

  /**
   * @param fromNanos by {@link System#nanoTime}
   */
  void add(Stage stage, long fromNanos, long toNanos);

  /** Returns the time at which a wait begins; any number if nobody wants to know. */
  default long begin() {
    return this == NONE ? 0 : System.nanoTime();
  }

  /**
   * A wait ends now.
   *
   * @param begun what {@link #begin} returned
   */
  default void end(Stage stage, long begun) {
    if (this != NONE) {
      add(stage, begun, System.nanoTime());
    }
  }

  /** Returns the request for which this thread works. */
  static StageNotes current() {
    StageNotes current = OfThread.CURRENT.get();
    return current == null ? NONE : current;
  }

  /** Works for the request on this thread. */
  default <T> T during(Callable<T> work) throws Exception {
    if (this == NONE) {
      return work.call();
    }
    StageNotes before = OfThread.CURRENT.get();
    OfThread.CURRENT.set(this);
    try {
      return work.call();
    } finally {
      OfThread.CURRENT.set(before);
    }
  }

  /** Several requests that wait for the same. */
  static StageNotes together(List<StageNotes> all) {
    List<StageNotes> on = all.stream().filter(notes -> notes != NONE).toList();
    return switch (on.size()) {
      case 0 -> NONE;
      case 1 -> on.get(0);
      default -> new SharedNotes(on);
    };
  }

  /** For which request a thread works. */
  final class OfThread {
    private static final ThreadLocal<StageNotes> CURRENT = new ThreadLocal<>();

    private OfThread() {}
  }

  /** Requests whose edits are in one transaction. */
  record SharedNotes(List<StageNotes> all) implements StageNotes {
    @Override
    public void add(Stage stage, long fromNanos, long toNanos) {
      all.forEach(each -> each.add(stage, fromNanos, toNanos));
    }
  }
}
