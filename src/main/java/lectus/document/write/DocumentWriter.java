package lectus.document.write;

import com.apple.foundationdb.FDBException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
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
import lectus.store.Underway;

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
    return begin(database, edits).finish();
  }

  /**
   * As {@link #write}, without waiting for the commit. Two writes that are under way side by side
   * should not be of the same document: which is committed first is for the store to say.
   */
  public WriteUnderway begin(DatabaseName database, List<? extends Edit> edits) {
    return new EditsUnderway(
        edits,
        budget,
        (batch, planned) -> begin(database, batch, planned),
        () -> catalogue.open(database).instance());
  }

  private Underway<Committed<WriteBatch.Result>> begin(
      DatabaseName database, List<DocumentEdits> batch, Consumer<WriteBatch.Result> planned) {
    TransactionRunner runner = batch.size() == 1 ? patiently : once;
    return runner.begin(
        tx -> {
          WriteBatch.Result result = batches.write(tx, database, batch);
          planned.accept(result);
          return result;
        },
        WriteBatch.Result::writes);
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
    return beginAtomically(database, edits).finish();
  }

  /**
   * As {@link #writeAtomically}, without waiting for the commit.
   *
   * @throws LectusException {@code bad_request}, {@code too_large}: nothing was begun
   */
  public WriteUnderway beginAtomically(DatabaseName database, List<? extends Edit> edits) {
    List<DocumentEdits> documents = DocumentEdits.of(edits, Long.MAX_VALUE);
    checkEachOnce(documents);
    return new AtomicUnderway(
        patiently.begin(
            tx -> batches.writeAtomically(tx, database, documents), WriteBatch.Result::writes),
        new WriteProgress(edits.size()),
        () -> catalogue.open(database).instance());
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

  static boolean isContention(RuntimeException failure) {
    return failure instanceof FDBException lost && RetryableErrors.isConflict(lost.getCode());
  }

  static LectusError tooContended() {
    return new LectusError.Unavailable("Too many edit the document at once.");
  }
}
