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
import lectus.error.LectusError;
import lectus.store.Committed;

/** What became of a request's edits so far, over one transaction after the other. */
final class WriteProgress {
  private final EditOutcome[] outcomes;
  private final Set<ShardId> shards = new HashSet<>();
  private InstanceId instance;
  private Optional<Sequence> last = Optional.empty();

  WriteProgress(int edits) {
    this.outcomes = new EditOutcome[edits];
  }

  /** Takes in a committed transaction; gives back what did not fit into it. */
  List<DocumentEdits> add(Committed<WriteBatch.Result> committed) {
    WriteBatch.Result result = committed.value();
    instance = result.database().instance();
    for (PlannedDocument document : result.done()) {
      set(document.edits(), document.outcomes());
    }
    shards.addAll(result.shards());
    if (result.written() > 0) {
      int incarnation = result.database().incarnation();
      last = Optional.of(Sequence.of(incarnation, committed.versionstamp(), result.written()));
    }
    return result.deferred();
  }

  void fail(List<DocumentEdits> documents, LectusError error) {
    for (DocumentEdits document : documents) {
      set(document, PlannedDocument.failures(document, error));
    }
  }

  /** Once something is stored a failure is told edit by edit, or what is stored would be lost. */
  void failOrThrow(List<DocumentEdits> documents, RuntimeException failure) {
    if (instance == null) {
      throw failure;
    }
    fail(documents, EditFailures.errorOf(failure));
  }

  /**
   * @param current asks for the database's instance, if no transaction has told it
   */
  WriteResult result(Supplier<InstanceId> current) {
    InstanceId written = instance == null ? current.get() : instance;
    return new WriteResult(Arrays.asList(outcomes), written, last, shards);
  }

  private void set(DocumentEdits document, List<EditOutcome> itsOutcomes) {
    for (int i = 0; i < itsOutcomes.size(); i++) {
      outcomes[document.places().get(i)] = itsOutcomes.get(i);
    }
  }
}
