package lectus.http.document;

import java.util.List;
import java.util.Optional;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;

/**
 * Decides what a replicator is told of documents that were not stored. Replicators know two answers
 * only: they continue after a row, and they retry after a failed request.
 *
 * <p>PouchDB continues after rows whose error is {@code forbidden} or {@code unauthorized}. At any
 * other it stops for good, without a checkpoint. CouchDB counts any row as a failed write and saves
 * its checkpoint after it. So a document that can never be stored gets a row with {@code
 * forbidden}. An error that may pass, or is not the document's own, must not become a row, because
 * no replicator would send that document again: it fails the request. The whole batch then comes
 * again, and the documents already stored are recognized.
 */
final class ReplicatedOutcomes {
  private ReplicatedOutcomes() {}

  /**
   * Returns the error that fails the whole request; empty if all that was not stored can never be.
   */
  static Optional<LectusError> toComeAgain(List<EditOutcome> outcomes) {
    return outcomes.stream()
        .filter(EditOutcome.Failed.class::isInstance)
        .map(failed -> ((EditOutcome.Failed) failed).error())
        .filter(ReplicatedOutcomes::mayPass)
        .findFirst();
  }

  /** Returns a final refusal. Its reason begins with the error's own name. */
  static EditOutcome.Failed refused(EditOutcome.Failed failed) {
    LectusError error = failed.error();
    LectusError told = new LectusError.Forbidden(error.error() + ": " + error.reason());
    return new EditOutcome.Failed(failed.id(), failed.revision(), told);
  }

  /**
   * Whether the error may pass. That includes a missing database: another one of its name may take
   * the document.
   */
  private static boolean mayPass(LectusError error) {
    return error instanceof LectusError.Unavailable
        || error instanceof LectusError.InDoubt
        || error instanceof LectusError.InsufficientStorage
        || error instanceof LectusError.Internal
        || error instanceof LectusError.NotFound;
  }
}
