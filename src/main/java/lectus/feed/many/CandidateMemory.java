package lectus.feed.many;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What all readers of a server together hold of the databases that they are about to read, some
 * sixty bytes for each. For any thread.
 */
final class CandidateMemory {
  private final long most;
  private final AtomicLong taken = new AtomicLong();

  /**
   * @param most bytes
   */
  CandidateMemory(long most) {
    this.most = most;
  }

  /**
   * Counts what somebody holds more, or less, than before. It is never refused: whoever finds that
   * it {@link #isShort} gives some back.
   */
  void add(long bytes) {
    taken.addAndGet(bytes);
  }

  /** Whether those who hold much are to give some back. */
  boolean isShort() {
    return taken.get() > most;
  }

  /** Bytes held. */
  long taken() {
    return taken.get();
  }
}
