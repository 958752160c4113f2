package lectus.changes.multi;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the memory that all readers of a server use for candidates, about sixty bytes each. A part
 * is for the rows of the updates log that they share. Thread-safe.
 */
final class CandidateMemory {
  /** The rows of the log have one part in so many. */
  private static final int PART_OF_LOG = 4;

  private final long most;
  private final AtomicLong taken = new AtomicLong();

  /**
   * @param most limit in bytes, of everything
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
    return taken.get() > most - ofLog();
  }

  /** Returns the bytes that rows of the log may take. */
  long ofLog() {
    return most / PART_OF_LOG;
  }

  /** Returns the bytes held. */
  long taken() {
    return taken.get();
  }
}
