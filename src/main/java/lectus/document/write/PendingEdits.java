package lectus.document.write;

import com.apple.foundationdb.FDBException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.edit.Edit;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.PendingTransaction;

/** A write whose edits are made independently, as many per transaction as fit. */
final class PendingEdits implements PendingCommits {
  /** The edits that are still to be made, in order. */
  private final Deque<EditGroup> waiting;

  private final long batchBytes;
  private final WriteProgress progress;
  private final Transactions transactions;
  private final Supplier<InstanceId> instance;
  private int atOnce;
  private List<EditGroup> batch;
  private PendingTransaction<CommitResult<EditTransaction>> commit;

  /** Whether some of the batch did not fit into the last planned transaction. */
  private boolean defers;

  private long plannedBytes;

  /** Begins the transaction that makes the edits of some documents, each with a different id. */
  interface Transactions
      extends BiFunction<
          List<EditGroup>,
          Consumer<EditTransaction>,
          PendingTransaction<CommitResult<EditTransaction>>> {}

  /**
   * @param batchBytes size of one transaction
   * @param documents at most in one transaction
   * @param instance looks up the database's instance if no transaction tells it
   */
  PendingEdits(
      List<? extends Edit> edits,
      long batchBytes,
      int documents,
      Transactions transactions,
      Supplier<InstanceId> instance) {
    this.batchBytes = batchBytes;
    this.waiting = new ArrayDeque<>(EditGroup.of(edits, batchBytes));
    this.progress = new WriteProgress(edits.size());
    this.transactions = transactions;
    this.instance = instance;
    this.atOnce = documents;
    beginNext();
  }

  private void beginNext() {
    batch = take();
    commit = transactions.apply(batch, this::planned);
  }

  /**
   * Takes the edits for the next transaction: at least one document, and each document only once,
   * so that a second edit of a document sees the result of the first.
   */
  private List<EditGroup> take() {
    List<EditGroup> taken = new ArrayList<>();
    List<EditGroup> again = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    long weight = 0;
    while (!waiting.isEmpty() && taken.size() < atOnce && weight < batchBytes) {
      EditGroup next = waiting.removeFirst();
      if (ids.add(next.id())) {
        weight += next.weight();
        taken.add(next);
      } else {
        again.add(next);
      }
    }
    putBack(again);
    return taken;
  }

  /** Puts documents back at the front. */
  private void putBack(List<EditGroup> documents) {
    for (int i = documents.size() - 1; i >= 0; i--) {
      waiting.addFirst(documents.get(i));
    }
  }

  private void planned(EditTransaction result) {
    defers = !result.deferred().isEmpty();
    plannedBytes = result.bytes();
  }

  @Override
  public long plannedBytes() {
    return plannedBytes;
  }

  @Override
  public void whenAnswered(Runnable then) {
    commit.whenAnswered(then);
  }

  @Override
  public boolean isStored() {
    return commit.isCommitted() && waiting.isEmpty() && !defers;
  }

  @Override
  public Optional<WriteResult> goOn() {
    if (!isAnswerTaken()) {
      return Optional.empty();
    }
    if (waiting.isEmpty()) {
      return Optional.of(progress.result(instance));
    }
    beginNext();
    return Optional.empty();
  }

  /** Whether the transaction is over, as far as its edits are concerned. */
  private boolean isAnswerTaken() {
    try {
      Optional<CommitResult<EditTransaction>> committed = commit.goOn();
      committed.map(progress::add).ifPresent(this::putBack);
      committed.ifPresent(it -> postpone(unjudged(it.value())));
      return committed.isPresent();
    } catch (RuntimeException failure) {
      if (batch.size() > 1 && (mayPass(failure) || isOfOneEdit(failure))) {
        atOnce = batch.size() / 2;
        putBack(batch);
      } else if (DocumentWriter.isContention(failure)) {
        progress.fail(batch, DocumentWriter.tooContended());
      } else if (isOfOneEdit(failure)) {
        progress.fail(batch, EditFailures.errorOf(failure));
      } else {
        failAll(failure);
      }
      return true;
    }
  }

  /**
   * Where the disk is short of space, deletions that were to share a transaction are still made.
   */
  private void failAll(RuntimeException failure) {
    List<EditGroup> all = new ArrayList<>(batch);
    all.addAll(waiting);
    waiting.clear();
    Map<Boolean, List<EditGroup>> byFreeing =
        all.stream().collect(Collectors.partitioningBy(EditGroup::frees));
    if (FoundationDbError.isNoSpace(failure)
        && byFreeing.values().stream().noneMatch(List::isEmpty)) {
      progress.fail(byFreeing.get(false), EditFailures.errorOf(failure));
      putBack(byFreeing.get(true));
    } else {
      progress.failOrThrow(all, failure);
    }
  }

  /** Notes that edits wait until functions have judged earlier ones of their documents. */
  private void postpone(Set<String> ids) {
    if (!ids.isEmpty()) {
      List<EditGroup> later = waiting.stream().filter(it -> ids.contains(it.id())).toList();
      waiting.removeAll(later);
      later.forEach(document -> progress.set(document, PlannedDocument.unjudged(document)));
    }
  }

  /** A later edit of these documents has to see what becomes of the earlier one. */
  private static Set<String> unjudged(EditTransaction result) {
    return result.done().stream()
        .filter(PlannedDocument::isUnjudged)
        .map(document -> document.edits().id())
        .collect(Collectors.toSet());
  }

  /** Whether nothing is stored, but a smaller transaction may succeed. */
  private static boolean mayPass(RuntimeException failure) {
    return failure instanceof LectusException known
        ? known.error() instanceof LectusError.Unavailable
        : failure instanceof FDBException lost && FoundationDbError.isRetryable(lost.getCode());
  }

  /** Whether one document caused the failure: nothing is stored, and the others may be written. */
  private static boolean isOfOneEdit(RuntimeException failure) {
    return failure instanceof FDBException lost
        ? FoundationDbError.isOfRequest(lost.getCode())
        : !(failure instanceof LectusException);
  }

  /** The outcomes of a request's edits so far, across its transactions. */
  static final class WriteProgress {
    private final EditOutcome[] outcomes;
    private final Set<ShardId> shards = new HashSet<>();
    private InstanceId instance;
    private Optional<Sequence> last = Optional.empty();

    WriteProgress(int edits) {
      this.outcomes = new EditOutcome[edits];
    }

    /** Adds the result of a committed transaction; returns what did not fit into it. */
    List<EditGroup> add(CommitResult<EditTransaction> committed) {
      EditTransaction result = committed.value();
      instance = result.db().instance();
      for (PlannedDocument document : result.done()) {
        set(document.edits(), document.outcomes());
      }
      shards.addAll(result.writer.shards());
      int written = result.writer.written();
      if (written > 0) {
        int incarnation = result.db().incarnation();
        last = Optional.of(Sequence.of(incarnation, committed.versionstamp(), written));
      }
      return result.deferred();
    }

    void fail(List<EditGroup> documents, LectusError error) {
      for (EditGroup document : documents) {
        set(document, PlannedDocument.failures(document, error));
      }
    }

    /**
     * Once something is stored, a failure is reported edit by edit; otherwise the client would not
     * learn what was stored.
     */
    void failOrThrow(List<EditGroup> documents, RuntimeException failure) {
      if (instance == null) {
        throw failure;
      }
      fail(documents, EditFailures.errorOf(failure));
    }

    /**
     * @param current looks up the database's instance if no transaction told it
     */
    WriteResult result(Supplier<InstanceId> current) {
      InstanceId written = instance == null ? current.get() : instance;
      return new WriteResult(Arrays.asList(outcomes), written, last, shards);
    }

    private void set(EditGroup document, List<EditOutcome> itsOutcomes) {
      for (int i = 0; i < itsOutcomes.size(); i++) {
        outcomes[document.places().get(i)] = itsOutcomes.get(i);
      }
    }
  }
}
