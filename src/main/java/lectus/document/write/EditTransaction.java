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
import lectus.document.index.IndexListing;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.TransactionRunner;

/**
 * Plans the edits of several documents and writes them into one transaction. Each document is fully
 * planned before it is written: FoundationDB has no savepoints, and after a mutator's first error
 * the whole transaction would fail.
 */
final class EditTransaction {
  private final Catalogue catalogue;
  private final byte[] root;
  private final TransactionBudget budget;
  private final WriteRules rules;

  /**
   * @param done the outcomes, valid once the transaction is committed
   * @param deferred the edits that no longer fitted
   * @param written number of documents written, numbered from 1; local ones have no numbers
   * @param shards the changes shards written to
   */
  record Result(
      DatabaseHandle db,
      List<PlannedDocument> done,
      List<EditGroup> deferred,
      int written,
      Set<ShardId> shards) {
    /** Whether the transaction has anything to commit. */
    boolean writes() {
      return done.stream().anyMatch(document -> document.update().isPresent());
    }
  }

  /**
   * @param root the prefix of the store's keys
   */
  EditTransaction(Catalogue catalogue, byte[] root, TransactionBudget budget, WriteRules rules) {
    this.catalogue = catalogue;
    this.root = root;
    this.budget = budget;
    this.rules = rules;
  }

  /**
   * Writes each document independently: the failure of one does not affect the others.
   *
   * @param documents each with a different id
   */
  Result write(Transaction tx, DatabaseName name, List<EditGroup> documents) {
    DatabaseHandle db = begin(tx, name, documents);
    UpdateWriter writer = new UpdateWriter(tx, db);
    List<PlannedDocument> done = new ArrayList<>(documents.size());
    List<EditGroup> deferred = new ArrayList<>();
    List<PlannedUpdate> updates = new ArrayList<>(documents.size());
    long weight = 0;
    for (PlannedDocument plan : plan(tx, db, documents)) {
      long itsWeight = plan.update().map(writer::weight).orElse(0L);
      if (itsWeight > budget.mostBytes()) {
        done.add(PlannedDocument.failed(plan.edits(), documentTooLarge(itsWeight)));
      } else if (weight > 0 && weight + itsWeight > budget.batchBytes()) {
        deferred.add(plan.edits());
      } else {
        weight += itsWeight;
        plan.update().ifPresent(updates::add);
        done.add(plan);
      }
    }
    writer.write(updates);
    finish(tx, db, writer, updates);
    return new Result(db, done, deferred, writer.written(), writer.shards());
  }

  /**
   * Writes all documents, or none if one fails.
   *
   * @param documents each with a different id
   * @throws LectusException {@code too_large} if they do not fit into one transaction
   */
  Result writeAtomically(Transaction tx, DatabaseName name, List<EditGroup> documents) {
    DatabaseHandle db = begin(tx, name, documents);
    UpdateWriter writer = new UpdateWriter(tx, db);
    List<PlannedDocument> plans = plan(tx, db, documents);
    if (plans.stream().anyMatch(PlannedDocument::hasFailed)) {
      List<PlannedDocument> withheld = plans.stream().map(EditTransaction::withheld).toList();
      return new Result(db, withheld, List.of(), 0, Set.of());
    }
    checkFits(writer, plans);
    List<PlannedUpdate> updates = new ArrayList<>(plans.size());
    plans.forEach(plan -> plan.update().ifPresent(updates::add));
    writer.write(updates);
    finish(tx, db, writer, updates);
    return new Result(db, plans, List.of(), writer.written(), writer.shards());
  }

  private DatabaseHandle begin(Transaction tx, DatabaseName name, List<EditGroup> documents) {
    if (documents.stream().allMatch(EditGroup::frees)) {
      TransactionRunner.freesSpace(tx);
    }
    return catalogue.currentForChanges(tx, name);
  }

  private void finish(
      Transaction tx, DatabaseHandle db, UpdateWriter writer, List<PlannedUpdate> updates) {
    writer.finish();
    if (writer.written() > 0) {
      catalogue.noteUpdate(tx, db);
    }
    boolean changesIndexes = listIndexes(tx, db, updates);
    if (writer.changesHandle() || changesIndexes) {
      catalogue.moveVersion(tx, db);
    }
  }

  /** Once everything is written: a new index may have all documents at once. */
  private boolean listIndexes(Transaction tx, DatabaseHandle db, List<PlannedUpdate> updates) {
    List<DocumentUpdate> changing = new ArrayList<>(0);
    for (PlannedUpdate update : updates) {
      if (update instanceof DocumentUpdate document && document.design().indexes().isPresent()) {
        changing.add(document);
      }
    }
    if (changing.isEmpty()) {
      return false;
    }
    IndexListing listing = new IndexListing(tx, db, root);
    changing.forEach(it -> listing.change(it.id(), it.design().indexes().orElseThrow()));
    return listing.finish();
  }

  private List<PlannedDocument> plan(Transaction tx, DatabaseHandle db, List<EditGroup> documents) {
    ResolvedEdits resolved = ResolvedEdits.of(tx, db, documents);
    PlanningScope scope = new PlanningScope(tx, db, rules, resolved.lacking());
    List<DocumentPlanner> planners = new ArrayList<>(documents.size());
    for (EditGroup edits : resolved.documents()) {
      planners.add(scope.begin(edits));
    }
    readAll(planners);
    List<PlannedDocument> plans = new ArrayList<>(documents.size());
    for (DocumentPlanner planner : planners) {
      plans.add(planner.plan());
    }
    return new Maintenance(tx, db).with(plans);
  }

  /** All planners go one step before any goes the next, so that their round trips are shared. */
  private static void readAll(List<DocumentPlanner> planners) {
    List<DocumentPlanner> reading = planners;
    while (!reading.isEmpty()) {
      List<DocumentPlanner> further = new ArrayList<>();
      for (DocumentPlanner planner : reading) {
        if (planner.readOn()) {
          further.add(planner);
        }
      }
      reading = further;
    }
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
