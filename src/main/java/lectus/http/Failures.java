package lectus.http;

import com.apple.foundationdb.FDBException;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.RetryableErrors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a request that failed is told. What nobody foresaw is in the log, under the request's id.
 */
final class Failures {
  private static final Logger LOG = LoggerFactory.getLogger(Failures.class);
  private static final int RETRY_AFTER_SECONDS = 1;

  /** From a read; after a commit nobody knows whether it is stored, which is another error. */
  private static final int TRANSACTION_TIMED_OUT = 1031;

  private Failures() {}

  static LectusError errorOf(Throwable failure, String requestId) {
    if (failure instanceof LectusException expected) {
      return expected.error();
    }
    if (failure instanceof FDBException lost && RetryableErrors.isRetryable(lost.getCode())) {
      return new LectusError.Unavailable("The store is too busy.", RETRY_AFTER_SECONDS);
    }
    if (failure instanceof FDBException silent && silent.getCode() == TRANSACTION_TIMED_OUT) {
      return new LectusError.Unavailable("The store does not answer.", RETRY_AFTER_SECONDS);
    }
    LOG.error("request={} failed", requestId, failure);
    return new LectusError.Internal("The request " + requestId + " failed; the log says why.");
  }
}
