package lectus.store.embedded.engine;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps a native object alive while it is in use. The owner only marks it to end its life. The last
 * user, or the owner if there is none, is told to free it. Exactly one caller is ever told so.
 */
public final class UseCount {
  public static final int OPEN = 0;
  public static final int CLOSED = 1;
  public static final int EXPIRED = 2;

  private static final int MARKS = CLOSED | EXPIRED;
  private static final int ONE_USER = 4;

  private final AtomicInteger state = new AtomicInteger();

  /** Begins a use. Returns OPEN, or the marks that forbid it. */
  public int enter() {
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

  /** Ends a use. Returns true if the caller has to free the object. */
  public boolean exit() {
    int left = state.addAndGet(-ONE_USER);
    return left != 0 && (left & ~MARKS) == 0;
  }

  /** Forbids further uses. Returns true if the caller has to free the object. */
  public boolean mark(int mark) {
    return state.getAndUpdate(current -> current | mark) == 0;
  }

  public boolean isInUse() {
    return (state.get() & ~MARKS) != 0;
  }

  /** Returns OPEN, or the marks set. */
  public int marks() {
    return state.get() & MARKS;
  }
}
