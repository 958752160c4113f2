package lectus.store;

import com.apple.foundationdb.FDBException;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** What a client is told of the store's errors, where it is more than that something failed. */
public final class StoreFailures {
  private static final int RETRY_AFTER_SECONDS = 1;

  /** From a read; after a commit nobody knows whether it is stored, which is another error. */
  private static final int TIMED_OUT = 1031;

  /** The embedded store's disk is full, or could not be read or written. */
  private static final int NO_SPACE = 1599;

  private static final int FILE_NOT_READABLE = 1513;
  private static final int FILE_NOT_WRITABLE = 1514;
  private static final int RETRY_AFTER_TROUBLE_SECONDS = 5;

  static final String SILENT = "The store does not answer.";

  /** No call of the store is answered in time. */
  public static final LectusError SILENCE = unavailable(SILENT);

  private static final LectusError SILENT_COMMIT =
      RetryableErrors.unknownResult(Integer.toString(TIMED_OUT)).error();

  /** A write was tried as often as may be, and none of the commits was answered. */
  static final LectusError GIVEN_UP =
      unavailable("The store did not answer in time; nothing was stored.");

  private StoreFailures() {}

  /** What may be told of an error after which nothing is stored; empty: nobody foresaw it. */
  public static Optional<LectusError> errorOf(FDBException lost) {
    int code = lost.getCode();
    if (RetryableErrors.isRetryable(code)) {
      return Optional.of(unavailable("The store is too busy."));
    }
    return switch (code) {
      case TIMED_OUT -> Optional.of(SILENCE);
      case NO_SPACE -> Optional.of(new LectusError.InsufficientStorage(lost.getMessage()));
      case FILE_NOT_READABLE, FILE_NOT_WRITABLE ->
          Optional.of(new LectusError.Unavailable(lost.getMessage(), RETRY_AFTER_TROUBLE_SECONDS));
      default -> Optional.empty();
    };
  }

  /** Whether the store did not answer in time, be it a read or a commit. */
  public static boolean isSilence(Throwable failure) {
    if (failure instanceof FDBException silent) {
      return silent.getCode() == TIMED_OUT;
    }
    return failure instanceof LectusException known
        && (known.error().equals(GIVEN_UP) || known.error().equals(SILENT_COMMIT));
  }

  private static LectusError unavailable(String sentence) {
    return new LectusError.Unavailable(sentence, RETRY_AFTER_SECONDS);
  }
}
