package lectus.document.write;

import com.apple.foundationdb.FDBException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Committed;
import lectus.store.RetryableErrors;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Writes documents: edits, checked against the revisions that are there (RFC 001), with the indexes
 * and counters that depend on them, in transactions of bounded size.
 */
public final class DocumentWriter {
  /** A batch that loses is not run again as it is, but in two halves. */
  private static final TransactionLimits ONCE = new TransactionLimits(0, Duration.ofSeconds(10));

  private static final TransactionLimits PATIENTLY =
      new TransactionLimits(200, Duration.ofSeconds(10));

  private final Catalogue catalogue;
  private final TransactionRunner once;
  private final TransactionRunner patiently;
  private final WriteBatch batches;
  private final TransactionBudget budget;

  public DocumentWriter(Store store, Catalogue catalogue) {
    this(store, catalogue, false);
  }

  /**
   * @param ignoresValidation whether edits are written although nothing runs the {@code
   *     validate_doc_update} that should judge them
   */
  public DocumentWriter(Store store, Catalogue catalogue, boolean ignoresValidation) {
    this(store, catalogue, TransactionBudget.DEFAULT, PATIENTLY, ignoresValidation);
  }

  DocumentWriter(
      Store store, Catalogue catalogue, TransactionBudget budget, TransactionLimits patience) {
    this(store, catalogue, budget, patience, false);
  }

  /**
   * @param patience with a transaction that cannot be made smaller
   */
  private DocumentWriter(
      Store store,
      Catalogue catalogue,
      TransactionBudget budget,
      TransactionLimits patience,
      boolean ignoresValidation) {
    this.catalogue = catalogue;
    this.once = new TransactionRunner(store, ONCE);
    this.patiently = new TransactionRunner(store, patience);
    this.batches = new WriteBatch(catalogue, budget, ignoresValidation);
    this.budget = budget;
  }

  /**
   * Makes each edit for itself, as many in one transaction as go into it. Of several interactive
   * edits of one document each sees what became of the one before. What fails for an edit of its
   * own, damaged rows for example, is told of its document alone. Where the store fails half way,
   * nothing more is tried: the edits that are left fail as the one at hand.
   *
   * @throws LectusException {@code not_found} if the database does not exist; Unavailable if it is
   *     not upgraded, or the store answered no commit in time, and nothing is stored; InDoubt if it
   *     could not be brought to say whether the first of them were stored
   */
  public WriteResult write(DatabaseName database, List<? extends Edit> edits) {
    WaitingEdits waiting =
        new WaitingEdits(DocumentEdits.of(edits, budget.batchBytes()), budget.batchBytes());
    WriteProgress progress = new WriteProgress(edits.size());
    int atOnce = budget.documents();
    do {
      List<DocumentEdits> batch = waiting.take(atOnce);
      try {
        waiting.putBack(progress.add(commit(database, batch)));
      } catch (RuntimeException failure) {
        if (batch.size() > 1 && (mayPass(failure) || isOfOneEdit(failure))) {
          atOnce = batch.size() / 2;
          waiting.putBack(batch);
        } else if (isContention(failure)) {
          progress.fail(batch, tooContended());
        } else if (isOfOneEdit(failure)) {
          progress.fail(batch, EditFailures.errorOf(failure));
        } else {
          progress.failOrThrow(waiting.all(batch), failure);
        }
      }
    } while (!waiting.isEmpty());
    return progress.result(() -> catalogue.open(database).instance());
  }

  /** Whether nothing is stored, and a smaller transaction may be. */
  private static boolean mayPass(RuntimeException failure) {
    return failure instanceof LectusException known
        ? known.error() instanceof LectusError.Unavailable
        : failure instanceof FDBException lost && RetryableErrors.isRetryable(lost.getCode());
  }

  /** Whether nothing is stored because of what one document is or was; others may be written. */
  private static boolean isOfOneEdit(RuntimeException failure) {
    return failure instanceof FDBException lost
        ? RetryableErrors.isOfRequest(lost.getCode())
        : !(failure instanceof LectusException);
  }

  private static boolean isContention(RuntimeException failure) {
    return failure instanceof FDBException lost && RetryableErrors.isConflict(lost.getCode());
  }

  /**
   * Makes all edits in one transaction, or none: the result has failures then.
   *
   * @throws LectusException {@code not_found}; {@code bad_request} if a document comes twice;
   *     {@code too_large} if they do not fit into one transaction; Unavailable if the database is
   *     not upgraded, others edit the same documents all the time, or the store answers no commit
   *     in time
   */
  public WriteResult writeAtomically(DatabaseName database, List<? extends Edit> edits) {
    List<DocumentEdits> documents = DocumentEdits.of(edits, Long.MAX_VALUE);
    checkEachOnce(documents);
    WriteProgress progress = new WriteProgress(edits.size());
    try {
      progress.add(
          patiently.runVersioned(
              tx -> batches.writeAtomically(tx, database, documents), WriteBatch.Result::writes));
    } catch (FDBException lost) {
      throw isContention(lost) ? new LectusException(tooContended()) : lost;
    }
    return progress.result(() -> catalogue.open(database).instance());
  }

  private Committed<WriteBatch.Result> commit(DatabaseName database, List<DocumentEdits> batch) {
    TransactionRunner runner = batch.size() == 1 ? patiently : once;
    return runner.runVersioned(tx -> batches.write(tx, database, batch), WriteBatch.Result::writes);
  }

  private static void checkEachOnce(List<DocumentEdits> documents) {
    if (documents.size() > TransactionBudget.MOST_DOCUMENTS) {
      throw new LectusException(
          new LectusError.TooLarge(
              "too_large",
              documents.size()
                  + " documents do not fit into one transaction, the limit is "
                  + TransactionBudget.MOST_DOCUMENTS
                  + "."));
    }
    Set<String> ids = new HashSet<>();
    for (DocumentEdits document : documents) {
      if (!ids.add(document.id())) {
        throw LectusException.badRequest(
            "The document " + document.id() + " comes twice in an atomic request.");
      }
    }
  }

  private static LectusError tooContended() {
    return new LectusError.Unavailable("Too many edit the document at once.");
  }
}
