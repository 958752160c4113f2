package lectus.http.exchange;

import com.apple.foundationdb.FDBException;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.StoreFailures;
import lectus.tuple.MalformedTupleException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a request that failed is told. What nobody foresaw is in the log, under the request's id.
 */
public final class Failures {
  private static final Logger LOG = LoggerFactory.getLogger(Failures.class);

  private Failures() {}

  public static LectusError errorOf(Throwable failure, String requestId) {
    if (failure instanceof LectusException expected) {
      return expected.error();
    }
    if (failure instanceof ClientLeft) {
      return new LectusError.Unavailable(failure.getMessage(), 0);
    }
    if (failure instanceof FDBException lost) {
      Optional<LectusError> foreseen = StoreFailures.errorOf(lost);
      if (foreseen.isPresent()) {
        return foreseen.get();
      }
    }
    if (failure instanceof MalformedTupleException unreadable) {
      LOG.error("request={} met stored data that cannot be read", requestId, failure);
      return new LectusError.Internal(unreadable.sentence());
    }
    if (failure instanceof OutOfMemoryError) {
      LOG.error("request={} failed: {}", requestId, failure.getMessage());
      return new LectusError.Unavailable("The server is short of memory.");
    }
    LOG.error("request={} failed", requestId, failure);
    return new LectusError.Internal("The request " + requestId + " failed; the log says why.");
  }
}
