package lectus.store;

import java.util.Optional;
import lectus.error.LectusError;

/** What a client is told of the store's errors, where it is more than that something failed. */
public final class StoreFailures {
  private static final int RETRY_AFTER_SECONDS = 1;

  /** From a read; after a commit nobody knows whether it is stored, which is another error. */
  private static final int TIMED_OUT = 1031;

  static final String SILENT = "The store does not answer.";

  /** A write was tried as often as may be, and none of the commits was answered. */
  static final LectusError GIVEN_UP =
      unavailable("The store did not answer in time; nothing was stored.");

  private StoreFailures() {}

  /** What may be told of an error code after which nothing is stored; empty: nobody foresaw it. */
  public static Optional<LectusError> errorOf(int code) {
    if (RetryableErrors.isRetryable(code)) {
      return Optional.of(unavailable("The store is too busy."));
    }
    return code == TIMED_OUT ? Optional.of(unavailable(SILENT)) : Optional.empty();
  }

  private static LectusError unavailable(String sentence) {
    return new LectusError.Unavailable(sentence, RETRY_AFTER_SECONDS);
  }
}
