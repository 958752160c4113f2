package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.ShardId;
import lectus.derived.EditWork;
import lectus.derived.rows.IndexListing;
import lectus.document.ReadAhead;
import lectus.document.edit.Edit;
import lectus.document.write.DocumentUpdate.DesignChange;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.document.write.Judge.Verdict;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.TransactionRunner;

/**
 * Plans the edits of several documents and writes them into one transaction. Each document is fully
 * planned before it is written: FoundationDB has no savepoints, and after a mutator's first error
 * the whole transaction would fail.
 */
final class EditTransaction {
  /** Documents planned before the size of any is known. */
  private static final int FIRST_DOCUMENTS = 16;

  /** Target size of what is planned at a time, in bytes read and written. */
  private static final long PLANNED_BYTES = 1_000_000;

  /** An atomic request may take as much work as so many batches of others: about a second. */
  private static final int ATOMIC_BATCHES = 20;

  private final Catalogue catalogue;
  private final byte[] root;
  private final TransactionBudget budget;
  private final WriteRules rules;

  /**
   * @param done the outcomes, valid once the transaction is committed
   * @param deferred the edits that no longer fitted
   * @param written number of documents written, numbered from 1; local ones have no numbers
   * @param shards the changes shards written to
   * @param bytes what the transaction weighs
   */
  record Result(
      DatabaseHandle db,
      List<PlannedDocument> done,
      List<EditGroup> deferred,
      int written,
      Set<ShardId> shards,
      long bytes) {
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
   * @param verdicts by the edits' places in the request; none, or null where there is none
   * @param ahead of the same write's transactions
   */
  Result write(
      Transaction tx,
      DatabaseName name,
      List<EditGroup> documents,
      List<Verdict> verdicts,
      ReadAhead ahead) {
    DatabaseHandle db = begin(tx, name, documents);
    UpdateWriter writer = new UpdateWriter(tx, db);
    Planned planned = new Planned(writer, budget.batchBytes(), false);
    Validation validation =
        new Validation(tx, db, rules, verdicts, EditWork.MAX_AT_ONCE, Optional.empty());
    plan(tx, db, documents, validation, planned, ahead, EditWork.MAX_AT_ONCE);
    return write(tx, db, writer, planned, documents.subList(planned.done.size(), documents.size()));
  }

  /** Returns what learns from the documents of a write how many to plan at a time. */
  ReadAhead ahead() {
    return new ReadAhead(FIRST_DOCUMENTS, budget.documents(), PLANNED_BYTES);
  }

  private Result write(
      Transaction tx,
      DatabaseHandle db,
      UpdateWriter writer,
      Planned planned,
      List<EditGroup> deferred) {
    List<PlannedUpdate> updates = new ArrayList<>(planned.done.size());
    planned.done.forEach(plan -> plan.update().ifPresent(updates::add));
    writer.write(updates);
    finish(tx, db, writer, updates);
    return new Result(
        db, planned.done, deferred, writer.written(), writer.shards(), planned.weight);
  }

  /**
   * Writes all documents, or none if one fails or is unjudged.
   *
   * @param documents each with a different id
   * @param verdicts as in {@link #write}
   * @throws LectusException {@code too_large} if they do not fit into one transaction
   */
  Result writeAtomically(
      Transaction tx, DatabaseName name, List<EditGroup> documents, List<Verdict> verdicts) {
    DatabaseHandle db = begin(tx, name, documents);
    UpdateWriter writer = new UpdateWriter(tx, db);
    Planned planned = new Planned(writer, budget.mostBytes(), true);
    long mostWork = ATOMIC_BATCHES * EditWork.MAX_AT_ONCE;
    Validation validation =
        new Validation(tx, db, rules, verdicts, mostWork, Optional.of(tooMuchWork()));
    plan(tx, db, documents, validation, planned, ahead(), mostWork);
    boolean hasFailed = planned.done.stream().anyMatch(PlannedDocument::hasFailed);
    if (hasFailed || planned.done.stream().anyMatch(PlannedDocument::isUnjudged)) {
      List<PlannedDocument> withheld = new ArrayList<>(documents.size());
      planned.done.forEach(plan -> withheld.add(withheld(plan, hasFailed)));
      documents.stream()
          .skip(withheld.size())
          .forEach(edits -> withheld.add(PlannedDocument.withheld(edits)));
      return new Result(db, withheld, List.of(), 0, Set.of(), 0);
    }
    if (planned.done.size() < documents.size()) {
      throw new LectusException(planned.tooLarge());
    }
    return write(tx, db, writer, planned, List.of());
  }

  /** The documents that a transaction writes, as far as it has room. */
  private final class Planned {
    private final UpdateWriter writer;
    private final long mostBytes;
    private final boolean isAtomic;
    private final List<PlannedDocument> done = new ArrayList<>();
    private long weight;

    /** What did not fit any more, with its weight. */
    private long beyond;

    Planned(UpdateWriter writer, long mostBytes, boolean isAtomic) {
      this.writer = writer;
      this.mostBytes = mostBytes;
      this.isAtomic = isAtomic;
    }

    /**
     * Returns how many of so many documents to plan next, none if the next is not expected to fit.
     * All of an atomic request have to fit.
     */
    int next(int documents, ReadAhead ahead) {
      if (isAtomic) {
        return documents;
      }
      long fitting = ahead.fitting(mostBytes - weight);
      return (int) Math.min(documents, done.isEmpty() ? Math.max(1, fitting) : fitting);
    }

    /** Returns whether the document was taken. */
    boolean take(PlannedDocument plan) {
      long its = plan.update().map(writer::weight).orElse(0L);
      if (its > budget.mostBytes()) {
        done.add(PlannedDocument.failed(plan.edits(), documentTooLarge(its)));
        return true;
      }
      if (weight > 0 && weight + its > mostBytes) {
        beyond = weight + its;
        return false;
      }
      weight += its;
      done.add(plan);
      return true;
    }

    /** Takes documents in order, up to the first that does not fit. */
    void takeAll(List<PlannedDocument> plans) {
      for (PlannedDocument plan : plans) {
        if (!take(plan)) {
          return;
        }
      }
    }

    LectusError tooLarge() {
      return new LectusError.TooLarge(
          "too_large",
          beyond > 0
              ? "The documents take "
                  + beyond
                  + " bytes of one transaction, the limit is "
                  + mostBytes
                  + "."
              : tooMuchWork().reason());
    }
  }

  private static LectusError tooMuchWork() {
    return new LectusError.TooLarge(
        "too_large",
        "The selectors of indexes, stored feeds and validators take too much work for one"
            + " transaction.");
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
      if (update instanceof DocumentUpdate document
          && document.design().flatMap(DesignChange::indexes).isPresent()) {
        changing.add(document);
      }
    }
    if (changing.isEmpty()) {
      return false;
    }
    IndexListing listing = new IndexListing(tx, db, root);
    changing.forEach(
        it -> listing.change(it.id(), it.design().flatMap(DesignChange::indexes).orElseThrow()));
    return listing.finish();
  }

  /**
   * Plans documents until the transaction is full: some, and then as many at a time as their size
   * lets expect to fit, because what indexes and stored feeds look at is known only once it is
   * read. What does not fit is planned again in the next transaction, which knows the size.
   *
   * @param mostWork of selectors
   */
  private void plan(
      Transaction tx,
      DatabaseHandle db,
      List<EditGroup> documents,
      Validation validation,
      Planned planned,
      ReadAhead ahead,
      long mostWork) {
    Optional<Maintenance> maintenance =
        db.indexes().isEmpty() && db.feeds().isEmpty()
            ? Optional.empty()
            : Optional.of(new Maintenance(tx, db, mostWork));
    int from = 0;
    int next = 0;
    while (from == planned.done.size() && maintenance.filter(Maintenance::isSpent).isEmpty()) {
      int left = documents.size() - from;
      next =
          from + planned.next(maintenance.isEmpty() ? left : Math.min(left, ahead.size()), ahead);
      if (next == from) {
        return;
      }
      long before = planned.weight + maintenance.map(Maintenance::bytesRead).orElse(0L);
      List<PlannedDocument> plans =
          plan(tx, db, planned.writer, validation, documents.subList(from, next));
      if (maintenance.isPresent()) {
        maintenance.get().add(plans, planned.mostBytes - planned.weight, planned::take);
      } else {
        planned.takeAll(plans);
      }
      int taken = Math.max(1, planned.done.size() - from);
      ahead.took(
          taken, planned.weight + maintenance.map(Maintenance::bytesRead).orElse(0L) - before);
      from = next;
    }
  }

  private List<PlannedDocument> plan(
      Transaction tx,
      DatabaseHandle db,
      UpdateWriter writer,
      Validation validation,
      List<EditGroup> documents) {
    Map<Edit, LectusError> lacking = new IdentityHashMap<>(0);
    List<EditGroup> resolved = resolved(tx, db, documents, lacking);
    PlanningScope scope = new PlanningScope(tx, db, writer, rules, validation, lacking);
    List<DocumentPlanner> planners = new ArrayList<>(documents.size());
    for (EditGroup edits : resolved) {
      planners.add(scope.begin(edits));
    }
    readAll(planners);
    List<PlannedDocument> plans = new ArrayList<>(documents.size());
    for (DocumentPlanner planner : planners) {
      plans.add(planner.plan());
    }
    return plans;
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

  private LectusError documentTooLarge(long weight) {
    return new LectusError.TooLarge(
        "document_too_large",
        "The document takes "
            + weight
            + " bytes of a transaction, the limit is "
            + budget.mostBytes()
            + ".");
  }

  /** Functions need not judge what is not stored in any case. */
  private static PlannedDocument withheld(PlannedDocument plan, boolean hasFailed) {
    return plan.hasFailed() || (plan.isUnjudged() && !hasFailed)
        ? plan
        : PlannedDocument.withheld(plan.edits());
  }

  /**
   * Returns the edits with all attachments known by their contents, as the transaction sees them.
   * Reads nothing if none has attachments.
   *
   * @param lacking gets the edits whose attachments cannot be had, and why
   */
  private static List<EditGroup> resolved(
      Transaction tx,
      DatabaseHandle db,
      List<EditGroup> documents,
      Map<Edit, LectusError> lacking) {
    Map<EditGroup, AttachmentResolution> begun = new IdentityHashMap<>();
    for (EditGroup group : documents) {
      if (group.edits().stream().anyMatch(edit -> !edit.attachments().all().isEmpty())) {
        begun.put(group, new AttachmentResolution(tx, db, group));
      }
    }
    if (begun.isEmpty()) {
      return documents;
    }
    begun.values().forEach(AttachmentResolution::readOn);
    List<EditGroup> resolved = new ArrayList<>(documents.size());
    for (EditGroup group : documents) {
      AttachmentResolution resolution = begun.get(group);
      resolved.add(resolution == null ? group : resolution.finish(lacking));
    }
    return resolved;
  }
}
