package lectus.account;

import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether the store has an admin, looked up again and again. Thread-safe. */
final class AdminWatch {
  private static final Logger LOG = LoggerFactory.getLogger(AdminWatch.class);

  private final BooleanSupplier reading;
  private volatile boolean isAny;

  AdminWatch(BooleanSupplier reading) {
    this.reading = reading;
  }

  boolean isAny() {
    return isAny;
  }

  /** Waits for the store. */
  void look() {
    isAny = reading.getAsBoolean();
  }

  /** Like {@link #look}; what was seen last remains if the store does not answer. */
  void lookIfPossible() {
    try {
      look();
    } catch (RuntimeException failure) {
      LOG.debug("It is unknown for now whether there are admins", failure);
    }
  }
}
