package lectus.http.document;

import java.util.List;
import java.util.Optional;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;

/**
 * What a replicator is told of documents that were not stored. Replicators know two answers alone:
 * they go on behind a row, and they come again after a request that failed.
 *
 * <p>PouchDB goes on behind rows whose error is {@code forbidden} or {@code unauthorized}, and
 * stops for good, without a checkpoint, at any other. CouchDB counts a row as a failed write,
 * whatever its error, and saves its checkpoint behind it. So a document that can never be stored is
 * a row that is {@code forbidden}; and what may pass, or need not concern the document, is no row:
 * nobody would bring that document again. The batch comes again whole, and what is stored of it is
 * known then.
 */
final class ReplicatedOutcomes {
  private ReplicatedOutcomes() {}

  /** What fails the whole request; empty if whatever was not stored can never be. */
  static Optional<LectusError> toComeAgain(List<EditOutcome> outcomes) {
    return outcomes.stream()
        .filter(EditOutcome.Failed.class::isInstance)
        .map(failed -> ((EditOutcome.Failed) failed).error())
        .filter(ReplicatedOutcomes::mayPass)
        .findFirst();
  }

  /** A refusal for good. The error's own name begins the reason. */
  static EditOutcome.Failed refused(EditOutcome.Failed failed) {
    LectusError error = failed.error();
    LectusError told = new LectusError.Forbidden(error.error() + ": " + error.reason());
    return new EditOutcome.Failed(failed.id(), failed.revision(), told);
  }

  /** Also where the database is gone: another one of its name may take the document. */
  private static boolean mayPass(LectusError error) {
    return error instanceof LectusError.Unavailable
        || error instanceof LectusError.InDoubt
        || error instanceof LectusError.InsufficientStorage
        || error instanceof LectusError.Internal
        || error instanceof LectusError.NotFound;
  }
}
