package lectus.http.exchange;

import lectus.error.LectusError;
import lectus.metrics.RequestLabel;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The answers to failed requests. Unforeseen failures are logged, with the request's label. */
public final class Failures {
  private static final Logger LOG = LoggerFactory.getLogger(Failures.class);

  private Failures() {}

  public static LectusError errorOf(Throwable failure, RequestLabel request) {
    return failure instanceof ClientLeft
        ? ClientLeft.ERROR
        : StoreFailures.foreseen(failure).orElseGet(() -> unforeseen(failure, request));
  }

  private static LectusError unforeseen(Throwable failure, RequestLabel request) {
    if (failure instanceof OutOfMemoryError) {
      request.on(LOG.atError()).log("failed: {}", failure.toString());
      return new LectusError.Unavailable("The server is short of memory.");
    }
    request.on(LOG.atError()).setCause(failure).log("failed");
    return StoreFailures.unforeseen(
        failure, "The request " + request.id() + " failed; the log says why.");
  }
}
