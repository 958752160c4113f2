package lectus.feed.many;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes counted for something that a reader keeps. They are given back when their owner is
 * forgotten, because nobody tells a source when it is no longer used. Thread-safe.
 */
final class HeldBytes {
  private static final Cleaner CLEANER = Cleaner.create();

  private final Count count;

  private record Count(CandidateMemory memory, AtomicLong bytes) implements Runnable {
    void become(long now) {
      long before = bytes.getAndSet(now);
      if (before != now) {
        memory.add(now - before);
      }
    }

    @Override
    public void run() {
      become(0);
    }
  }

  /**
   * @param owner must be referred to by nothing that this refers to
   */
  HeldBytes(Object owner, CandidateMemory memory) {
    this.count = new Count(memory, new AtomicLong());
    CLEANER.register(owner, count);
  }

  void become(long now) {
    count.become(now);
  }

  void add(long more) {
    count.bytes().addAndGet(more);
    count.memory().add(more);
  }

  /** Whether all readers together hold more than they may. */
  boolean isMemoryShort() {
    return count.memory().isShort();
  }
}
