package lectus.http.exchange;

import lectus.error.LectusError;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The answers to failed requests. Unforeseen failures are logged, with the request's id. */
public final class Failures {
  private static final Logger LOG = LoggerFactory.getLogger(Failures.class);

  private Failures() {}

  public static LectusError errorOf(Throwable failure, String requestId) {
    return failure instanceof ClientLeft
        ? ClientLeft.ERROR
        : StoreFailures.foreseen(failure).orElseGet(() -> unforeseen(failure, requestId));
  }

  private static LectusError unforeseen(Throwable failure, String requestId) {
    if (failure instanceof OutOfMemoryError) {
      LOG.error("request={} failed: {}", requestId, failure.toString());
      return new LectusError.Unavailable("The server is short of memory.");
    }
    LOG.error("request={} failed", requestId, failure);
    return StoreFailures.unforeseen(
        failure, "The request " + requestId + " failed; the log says why.");
  }
}
