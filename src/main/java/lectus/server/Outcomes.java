package lectus.server;

import java.util.List;
import lectus.document.write.EditOutcome;
import lectus.http.Writes.Completion;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells requests what became of their edits. What one of them throws at that, a lack of memory for
 * its answer included, fails that request and nothing else.
 */
final class Outcomes {
  private static final Logger LOG = LoggerFactory.getLogger(Outcomes.class);

  private Outcomes() {}

  static void tell(Completion request, List<EditOutcome> outcomes) {
    try {
      request.written(outcomes);
    } catch (RuntimeException | Error failure) {
      tellFailed(request, failure);
    }
  }

  static void tellFailed(Completion request, Throwable failure) {
    try {
      request.failed(failure);
    } catch (RuntimeException | Error e) {
      LOG.error("A request could not be told what became of it", e);
    }
  }
}
