package lectus.server.writing;

import java.util.List;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes requests with the outcomes of their edits. If that throws, even for lack of memory for
 * the answer, only that request fails.
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
      LOG.error("A request could not be completed with its outcomes", e);
    }
  }
}
