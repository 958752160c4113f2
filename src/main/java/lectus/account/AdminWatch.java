package lectus.account;

import java.util.function.BooleanSupplier;
import lectus.store.RegularLook;

/**
 * Whether the store has an admin. What was seen last remains while the store does not answer.
 * Thread-safe.
 */
final class AdminWatch implements AutoCloseable {
  /** Less than an account may be old, so that the look itself has its time. */
  private static final long LOOK_MILLIS = 400;

  private final BooleanSupplier reading;
  private final RegularLook looks = new RegularLook("lectus-admins", LOOK_MILLIS, this::look);
  private volatile boolean isAny;

  AdminWatch(BooleanSupplier reading) {
    this.reading = reading;
  }

  /** Looks now, which waits for the store, and from now on. */
  void start() {
    looks.start();
  }

  boolean isAny() {
    return isAny;
  }

  /** Waits for the store. */
  void look() {
    isAny = reading.getAsBoolean();
  }

  @Override
  public void close() {
    looks.close();
  }
}
