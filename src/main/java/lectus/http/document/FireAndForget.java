package lectus.http.document;

import java.util.List;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes;
import lectus.error.LectusError;
import lectus.http.exchange.Failures;
import lectus.metrics.RequestLabel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Completes a write that was answered before it was done ({@code batch=ok}). */
record FireAndForget(RequestLabel request) implements Writes.Completion {
  private static final Logger LOG = LoggerFactory.getLogger(FireAndForget.class);

  @Override
  public void written(List<EditOutcome> outcomes) {
    for (EditOutcome outcome : outcomes) {
      if (outcome instanceof EditOutcome.Failed failed) {
        request.on(LOG.atInfo()).log("batch edit failed: {}", failed.error().error());
      }
    }
  }

  @Override
  public void failed(Throwable failure) {
    LectusError error = Failures.errorOf(failure, request);
    request.on(LOG.atInfo()).log("batch edit failed: {}", error.reason());
  }

  @Override
  public boolean isAwaited() {
    return false;
  }
}
