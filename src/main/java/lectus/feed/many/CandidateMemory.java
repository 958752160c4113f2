package lectus.feed.many;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the memory that all readers of a server use for candidates, about sixty bytes each.
 * Thread-safe.
 */
final class CandidateMemory {
  private final long most;
  private final AtomicLong taken = new AtomicLong();

  /**
   * @param most limit in bytes
   */
  CandidateMemory(long most) {
    this.most = most;
  }

  /**
   * Adds to the count, or subtracts from it. It never refuses: a reader that finds memory {@link
   * #isShort} gives some back.
   */
  void add(long bytes) {
    taken.addAndGet(bytes);
  }

  /** Whether readers that hold much should give some back. */
  boolean isShort() {
    return taken.get() > most;
  }

  /** Returns the bytes held. */
  long taken() {
    return taken.get();
  }
}
