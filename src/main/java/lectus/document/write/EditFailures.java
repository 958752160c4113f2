package lectus.document.write;

import com.apple.foundationdb.FDBException;
import java.util.Optional;
import lectus.document.edit.Edit;
import lectus.document.edit.ReplicatedEdit;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.StoreFailures;
import lectus.tuple.MalformedTupleException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a client is told of edits that could not be written. */
public final class EditFailures {
  private static final Logger LOG = LoggerFactory.getLogger(EditFailures.class);

  private EditFailures() {}

  public static EditOutcome of(Edit edit, LectusError error) {
    return new EditOutcome.Failed(
        edit.id(),
        edit instanceof ReplicatedEdit replicated
            ? Optional.of(replicated.path().leaf())
            : Optional.empty(),
        error);
  }

  /** What a failure of a transaction, or of the store, means. What nobody foresaw is logged. */
  public static LectusError errorOf(Throwable failure) {
    if (failure instanceof LectusException known) {
      return known.error();
    }
    Optional<LectusError> foreseen =
        failure instanceof FDBException lost ? StoreFailures.errorOf(lost) : Optional.empty();
    return foreseen.orElseGet(() -> unforeseen(failure));
  }

  private static LectusError unforeseen(Throwable failure) {
    LOG.error("Edits could not be written", failure);
    return new LectusError.Internal(
        failure instanceof MalformedTupleException unreadable
            ? unreadable.sentence()
            : "The store failed; the log says why.");
  }
}
