package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.ShardId;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Plans the edits of several documents and writes them into one transaction. Each is planned whole
 * before any is written: FoundationDB has no savepoints, and the first error of a mutator would
 * stick to all of them.
 */
final class WriteBatch {
  private final Catalogue catalogue;
  private final TransactionBudget budget;
  private final boolean ignoresValidation;

  /**
   * @param done what was decided, true once the transaction is committed
   * @param deferred what did not fit any more
   * @param written documents that were written, numbered from 1; local ones have no numbers
   * @param shards the changes shards that they went to
   */
  record Result(
      DatabaseHandle database,
      List<PlannedDocument> done,
      List<DocumentEdits> deferred,
      int written,
      Set<ShardId> shards) {
    /** Whether the transaction has anything to commit. */
    boolean writes() {
      return done.stream().anyMatch(document -> document.update().isPresent());
    }
  }

  WriteBatch(Catalogue catalogue, TransactionBudget budget, boolean ignoresValidation) {
    this.catalogue = catalogue;
    this.budget = budget;
    this.ignoresValidation = ignoresValidation;
  }

  /**
   * Every document for itself: whether one fails is nothing to the others.
   *
   * @param documents each of another id
   */
  Result write(Transaction tx, DatabaseName name, List<DocumentEdits> documents) {
    DatabaseHandle database = catalogue.currentForChanges(tx, name);
    UpdateWriter writer = new UpdateWriter(tx, database);
    List<PlannedDocument> done = new ArrayList<>(documents.size());
    List<DocumentEdits> deferred = new ArrayList<>();
    long weight = 0;
    for (PlannedDocument plan : plan(tx, database, documents)) {
      long itsWeight = plan.update().map(writer::weight).orElse(0L);
      if (itsWeight > budget.mostBytes()) {
        done.add(PlannedDocument.failed(plan.edits(), documentTooLarge(itsWeight)));
      } else if (weight > 0 && weight + itsWeight > budget.batchBytes()) {
        deferred.add(plan.edits());
      } else {
        weight += itsWeight;
        plan.update().ifPresent(writer::write);
        done.add(plan);
      }
    }
    finish(tx, database, writer);
    return new Result(database, done, deferred, writer.written(), writer.shards());
  }

  /**
   * All documents, or none if one fails.
   *
   * @param documents each of another id
   * @throws LectusException {@code too_large} if they do not fit into one transaction
   */
  Result writeAtomically(Transaction tx, DatabaseName name, List<DocumentEdits> documents) {
    DatabaseHandle database = catalogue.currentForChanges(tx, name);
    UpdateWriter writer = new UpdateWriter(tx, database);
    List<PlannedDocument> plans = plan(tx, database, documents);
    if (plans.stream().anyMatch(PlannedDocument::hasFailed)) {
      List<PlannedDocument> withheld = plans.stream().map(WriteBatch::withheld).toList();
      return new Result(database, withheld, List.of(), 0, Set.of());
    }
    checkFits(writer, plans);
    for (PlannedDocument plan : plans) {
      plan.update().ifPresent(writer::write);
    }
    finish(tx, database, writer);
    return new Result(database, plans, List.of(), writer.written(), writer.shards());
  }

  private void finish(Transaction tx, DatabaseHandle database, UpdateWriter writer) {
    writer.finish();
    if (writer.written() > 0) {
      catalogue.noteUpdate(tx, database);
    }
    if (writer.changesValidation()) {
      catalogue.moveVersion(tx, database);
    }
  }

  private List<PlannedDocument> plan(
      Transaction tx, DatabaseHandle database, List<DocumentEdits> documents) {
    PlanningScope scope = new PlanningScope(tx, database, ignoresValidation);
    List<DocumentPlanner> planners = new ArrayList<>(documents.size());
    for (DocumentEdits edits : documents) {
      planners.add(scope.begin(edits));
    }
    for (DocumentPlanner planner : planners) {
      planner.readOn();
    }
    List<PlannedDocument> plans = new ArrayList<>(documents.size());
    for (DocumentPlanner planner : planners) {
      plans.add(planner.plan());
    }
    return plans;
  }

  private void checkFits(UpdateWriter writer, List<PlannedDocument> plans) {
    long weight = 0;
    for (PlannedDocument plan : plans) {
      weight += plan.update().map(writer::weight).orElse(0L);
    }
    if (weight > budget.mostBytes()) {
      throw new LectusException(
          new LectusError.TooLarge(
              "too_large",
              "The documents take "
                  + weight
                  + " bytes of one transaction, the limit is "
                  + budget.mostBytes()
                  + "."));
    }
  }

  private LectusError documentTooLarge(long weight) {
    return new LectusError.TooLarge(
        "document_too_large",
        "The document takes "
            + weight
            + " bytes of a transaction, the limit is "
            + budget.mostBytes()
            + ".");
  }

  private static PlannedDocument withheld(PlannedDocument plan) {
    if (plan.hasFailed()) {
      return plan;
    }
    List<EditOutcome> outcomes = new ArrayList<>(plan.outcomes().size());
    for (EditOutcome outcome : plan.outcomes()) {
      outcomes.add(new EditOutcome.Withheld(outcome.id()));
    }
    return new PlannedDocument(plan.edits(), outcomes, Optional.empty());
  }
}
