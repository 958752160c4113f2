package lectus.document.write;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.document.ReadAhead;
import lectus.document.edit.Edit;
import lectus.document.write.Judge.Verdict;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.document.write.PendingEdits.WriteProgress;
import lectus.document.write.WriteRules.EditRule;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.ReadTimeout;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.PendingTransaction;

/**
 * Writes documents in transactions of bounded size: checks edits against the stored revisions (RFC
 * 001), and updates the indexes and counters that depend on them.
 */
public final class DocumentWriter {
  /** Maximum number of documents in one transaction; further ones wait for its commit. */
  public static final int DOCUMENTS_AT_ONCE = TransactionBudget.DEFAULT.documents();

  /** Together with the time to settle a doubt, as long as a request waits by default. */
  private static final Duration MAX_TIME = Duration.ofSeconds(10).minus(ReadTimeout.FOR_SETTLING);

  /** A batch that conflicts is retried in two halves, not as it is. */
  private static final TransactionLimits ONCE = new TransactionLimits(0, MAX_TIME);

  private static final TransactionLimits PATIENTLY = new TransactionLimits(200, MAX_TIME);

  final Catalogue catalogue;

  /** The prefix of the store's keys. */
  final byte[] root;

  final long batchBytes;
  final long mostBytes;
  private final int mostDocuments;
  final EditRule rule;
  final boolean ignoresValidation;
  private final Judge judge;
  private final TransactionRunner once;
  private final TransactionRunner patiently;

  public DocumentWriter(Store store, Catalogue catalogue) {
    this(store, catalogue, WriteRules.NONE);
  }

  public DocumentWriter(Store store, Catalogue catalogue, WriteRules rules) {
    this(store, catalogue, TransactionBudget.DEFAULT, PATIENTLY, rules);
  }

  DocumentWriter(
      Store store, Catalogue catalogue, TransactionBudget budget, TransactionLimits patience) {
    this(store, catalogue, budget, patience, WriteRules.NONE);
  }

  /**
   * @param patience how long to retry a transaction that cannot be made smaller
   */
  DocumentWriter(
      Store store,
      Catalogue catalogue,
      TransactionBudget budget,
      TransactionLimits patience,
      WriteRules rules) {
    this.catalogue = catalogue;
    this.once = new TransactionRunner(store, ONCE);
    this.patiently = new TransactionRunner(store, patience);
    this.root = store.rootPrefix();
    this.batchBytes = budget.batchBytes();
    this.mostBytes = budget.mostBytes();
    this.mostDocuments = budget.documents();
    this.rule = rules.rule();
    this.ignoresValidation = rules.ignoresValidation();
    this.judge = rules.judge();
  }

  /**
   * Makes each edit independently, as many per transaction as fit. If a document has several
   * interactive edits, each sees the result of the one before. A failure caused by one document,
   * damaged rows for example, is reported for that document alone. If the store fails half way,
   * nothing more is tried: the remaining edits fail with the same error.
   *
   * @throws LectusException {@code not_found} if the database does not exist; Unavailable if the
   *     store answered no commit in time and nothing is stored; InDoubt if the store did not say
   *     whether the first edits were stored
   */
  public WriteResult write(DatabaseName database, List<? extends Edit> edits) {
    return finished(
        edits,
        List.of(),
        false,
        (left, verdicts) -> begin(database, left, verdicts),
        Optional.empty());
  }

  /**
   * Like {@link #write}, without waiting for the commit. Two concurrent writes should not edit the
   * same document, because the store decides which is committed first. The outcome of edits that
   * functions have to judge is {@link EditOutcome.Unjudged}.
   *
   * @param verdicts on the edits, in their order; none, or null where there is none
   */
  public PendingCommits begin(
      DatabaseName database, List<? extends Edit> edits, List<Verdict> verdicts) {
    ReadAhead ahead = EditTransaction.ahead(mostDocuments);
    return new PendingEdits(
        edits,
        batchBytes,
        mostDocuments,
        (batch, planned) ->
            begin(
                batch.size() == 1 ? patiently : once,
                tx -> new EditTransaction(this, tx, database, batch, false, verdicts).write(ahead),
                planned),
        () -> catalogue.open(database).instance());
  }

  /** Returns what answers the questions of unjudged edits. */
  public Judge judge() {
    return judge;
  }

  /** Waits for the write and, between its transactions, for functions that have to judge it. */
  private WriteResult finished(
      List<? extends Edit> edits,
      List<Verdict> verdicts,
      boolean isAtomic,
      BiFunction<List<? extends Edit>, List<Verdict>, PendingCommits> begin,
      Optional<UnjudgedEdits> former) {
    WriteResult result = begin.apply(edits, verdicts).finish();
    if (result.outcomes().stream().noneMatch(EditOutcome.Unjudged.class::isInstance)) {
      return result;
    }
    UnjudgedEdits left = UnjudgedEdits.of(edits, result.outcomes(), isAtomic, former);
    if (left.areContended()) {
      return result.with(left.contended());
    }
    try {
      List<Verdict> answers = judge.judge(left.questions()).stream().map(Awaiting::await).toList();
      List<Verdict> now = left.answered(answers).verdicts();
      WriteResult later = finished(left.edits(), now, isAtomic, begin, Optional.of(left));
      return result.followedBy(later).with(left.with(later.outcomes()));
    } catch (RuntimeException failure) {
      if (!left.areOthersDone()) {
        throw failure;
      }
      return result.with(left.failed(EditFailures.errorOf(failure)));
    }
  }

  private static PendingTransaction<CommitResult<EditTransaction>> begin(
      TransactionRunner runner,
      Function<Transaction, EditTransaction> body,
      Consumer<EditTransaction> planned) {
    return runner.begin(
        tx -> {
          EditTransaction made = body.apply(tx);
          planned.accept(made);
          return made;
        },
        EditTransaction::writes);
  }

  /**
   * Makes all edits in one transaction, or none; then the result has failures.
   *
   * @throws LectusException {@code not_found}; {@code bad_request} if a document comes twice;
   *     {@code too_large} if the edits do not fit into one transaction; Unavailable if other
   *     writers keep editing the same documents, or if the store answers no commit in time
   */
  public WriteResult writeAtomically(DatabaseName database, List<? extends Edit> edits) {
    return finished(
        edits,
        List.of(),
        true,
        (left, verdicts) -> beginAtomically(database, left, verdicts),
        Optional.empty());
  }

  /**
   * Like {@link #writeAtomically}, without waiting for the commit. Nothing is stored if functions
   * have to judge an edit; then the outcome of that one is {@link EditOutcome.Unjudged}.
   *
   * @param verdicts as in {@link #begin}
   * @throws LectusException {@code bad_request}, {@code too_large}: nothing was begun
   */
  public PendingCommits beginAtomically(
      DatabaseName database, List<? extends Edit> edits, List<Verdict> verdicts) {
    List<EditGroup> documents = EditGroup.of(edits, Long.MAX_VALUE);
    checkEachOnce(documents);
    return new PendingAtomicEdits(
        edits.size(),
        documents,
        (batch, planned) ->
            begin(
                patiently,
                tx ->
                    new EditTransaction(this, tx, database, batch, true, verdicts)
                        .write(EditTransaction.ahead(mostDocuments)),
                planned),
        () -> catalogue.open(database).instance());
  }

  private static void checkEachOnce(List<EditGroup> documents) {
    if (documents.size() > TransactionBudget.MAX_DOCUMENTS) {
      throw LectusException.tooLarge(
          "too_large",
          documents.size()
              + " documents do not fit into one transaction, the limit is "
              + TransactionBudget.MAX_DOCUMENTS
              + ".");
    }
    Set<String> ids = new HashSet<>();
    for (EditGroup document : documents) {
      if (!ids.add(document.id())) {
        throw LectusException.badRequest(
            "The document " + document.id() + " comes twice in an atomic request.");
      }
    }
  }

  static boolean isContention(RuntimeException failure) {
    return failure instanceof FDBException lost
        && FoundationDbError.NOT_COMMITTED.is(lost.getCode());
  }

  static LectusError tooContended() {
    return new LectusError.Unavailable("Too many edit the document at once.");
  }

  /**
   * Limits on one transaction, in the store's own measure (keys, values, and what each mutation and
   * conflict range adds).
   *
   * @param batchBytes size at which a batch continues in another transaction
   * @param mostBytes size that no transaction exceeds: a single document, or an atomic request,
   *     that weighs more is refused
   * @param documents number of documents at which a batch continues in another transaction; two
   *     bytes of the versionstamp number them
   */
  record TransactionBudget(long batchBytes, long mostBytes, int documents) {
    /** Bytes that the store adds for each mutation. */
    static final int MUTATION_BYTES = 44;

    /** Bytes that the store adds for each conflict range. */
    static final int CONFLICT_RANGE_BYTES = 25;

    /** Maximum number of documents that a versionstamp's two user bytes can number, from 1. */
    static final int MAX_DOCUMENTS = (1 << 16) - 1;

    /** Below the store's limit of 10 MB, because its measure differs a little between builds. */
    static final TransactionBudget DEFAULT = new TransactionBudget(4_000_000, 9_500_000, 2_000);

    TransactionBudget {
      if (documents < 1 || documents > MAX_DOCUMENTS) {
        throw new IllegalArgumentException("Not a number of documents: " + documents);
      }
    }
  }

  /** A write whose edits are all made in one transaction, or none. */
  private static final class PendingAtomicEdits implements PendingCommits {
    private final WriteProgress progress;
    private final Supplier<InstanceId> instance;
    private final PendingTransaction<CommitResult<EditTransaction>> commit;
    private long plannedBytes;

    /**
     * @param edits how many there are
     * @param instance looks up the database's instance if the transaction does not tell it
     */
    PendingAtomicEdits(
        int edits,
        List<EditGroup> documents,
        PendingEdits.Transactions transactions,
        Supplier<InstanceId> instance) {
      this.progress = new WriteProgress(edits);
      this.instance = instance;
      this.commit = transactions.apply(documents, this::planned);
    }

    private void planned(EditTransaction result) {
      plannedBytes = result.bytes();
    }

    @Override
    public void whenAnswered(Runnable then) {
      commit.whenAnswered(then);
    }

    @Override
    public boolean isStored() {
      return commit.isCommitted();
    }

    @Override
    public long plannedBytes() {
      return plannedBytes;
    }

    @Override
    public Optional<WriteResult> goOn() {
      try {
        return commit
            .goOn()
            .map(
                committed -> {
                  progress.add(committed);
                  return progress.result(instance);
                });
      } catch (FDBException lost) {
        throw DocumentWriter.isContention(lost)
            ? new LectusException(DocumentWriter.tooContended())
            : lost;
      }
    }
  }
}
