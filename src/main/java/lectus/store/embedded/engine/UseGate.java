package lectus.store.embedded.engine;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps a native object alive while it is used: whoever ends its life only marks it, and the last
 * user (or the marker, if there is none) is told to free it. Exactly one caller is ever told so.
 */
final class UseGate {
  static final int OPEN = 0;
  static final int CLOSED = 1;
  static final int EXPIRED = 2;

  private static final int MARKS = CLOSED | EXPIRED;
  private static final int ONE_USER = 4;

  private final AtomicInteger state = new AtomicInteger();

  /** Begins a use; returns OPEN, or the marks that forbid it. */
  int enter() {
    while (true) {
      int current = state.get();
      if ((current & MARKS) != 0) {
        return current & MARKS;
      }
      if (state.compareAndSet(current, current + ONE_USER)) {
        return OPEN;
      }
    }
  }

  /** Ends a use; true if the caller has to free the object. */
  boolean exit() {
    int left = state.addAndGet(-ONE_USER);
    return left != 0 && (left & ~MARKS) == 0;
  }

  /** Forbids further uses; true if the caller has to free the object. */
  boolean mark(int mark) {
    return state.getAndUpdate(current -> current | mark) == 0;
  }

  boolean isInUse() {
    return (state.get() & ~MARKS) != 0;
  }

  /** OPEN, or what was marked. */
  int marks() {
    return state.get() & MARKS;
  }
}
