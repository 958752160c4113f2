package lectus.document.write;

import java.util.Optional;
import lectus.document.edit.Edit;
import lectus.document.edit.ReplicatedEdit;
import lectus.error.LectusError;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The errors that clients see for edits that could not be written. */
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

  /** Returns the error for a failed transaction or store. Unforeseen failures are logged. */
  public static LectusError errorOf(Throwable failure) {
    return StoreFailures.foreseen(failure).orElseGet(() -> unforeseen(failure));
  }

  private static LectusError unforeseen(Throwable failure) {
    LOG.error("Edits could not be written", failure);
    return StoreFailures.unforeseen(failure, "The store failed; the log says why.");
  }
}
