package lectus.document.write;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.error.LectusError;
import lectus.store.TransactionRunner.CommitResult;

/** The outcomes of a request's edits so far, across its transactions. */
final class WriteProgress {
  private final EditOutcome[] outcomes;
  private final Set<ShardId> shards = new HashSet<>();
  private InstanceId instance;
  private Optional<Sequence> last = Optional.empty();

  WriteProgress(int edits) {
    this.outcomes = new EditOutcome[edits];
  }

  /** Adds the result of a committed transaction; returns what did not fit into it. */
  List<EditGroup> add(CommitResult<EditTransaction.Result> committed) {
    EditTransaction.Result result = committed.value();
    instance = result.db().instance();
    for (PlannedDocument document : result.done()) {
      set(document.edits(), document.outcomes());
    }
    shards.addAll(result.shards());
    if (result.written() > 0) {
      int incarnation = result.db().incarnation();
      last = Optional.of(Sequence.of(incarnation, committed.versionstamp(), result.written()));
    }
    return result.deferred();
  }

  /** Notes that edits wait until functions have judged earlier ones of their documents. */
  void postpone(List<EditGroup> documents) {
    documents.forEach(document -> set(document, PlannedDocument.unjudged(document)));
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
