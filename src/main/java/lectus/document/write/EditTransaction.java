package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.derived.EditWork;
import lectus.derived.rows.IndexListing;
import lectus.document.ReadAhead;
import lectus.document.edit.Edit;
import lectus.document.write.DocumentUpdate.DesignChange;
import lectus.document.write.Judge.Verdict;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.TransactionRunner;

/**
 * Plans the edits of several documents and writes them into one transaction. Each document is fully
 * planned before it is written: FoundationDB has no savepoints, and after a mutator's first error
 * the whole transaction would fail. What it tells of them is valid once it is committed.
 */
final class EditTransaction {
  /** Documents planned before the size of any is known. */
  private static final int FIRST_DOCUMENTS = 16;

  /** Target size of what is planned at a time, in bytes read and written. */
  private static final long PLANNED_BYTES = 1_000_000;

  /** An atomic request may take as much work as so many batches of others: about a second. */
  private static final int ATOMIC_BATCHES = 20;

  private final DocumentWriter by;
  private final Transaction tx;
  private final DatabaseHandle db;
  private final List<EditGroup> documents;
  private final boolean isAtomic;
  final UpdateWriter writer;
  private final Optional<Validation> validation;

  /** What the documents may weigh together, in bytes. */
  private final long mostBytes;

  /** What selectors may do. */
  private final long mostWork;

  private List<PlannedDocument> done = new ArrayList<>();
  private long weight;

  /** What did not fit any more, with its weight. */
  private long beyond;

  /**
   * @param documents each with a different id
   * @param isAtomic whether all are written or none; otherwise the failure of one does not affect
   *     the others
   * @param verdicts by the edits' places in the request; none, or null where there is none
   */
  EditTransaction(
      DocumentWriter by,
      Transaction tx,
      DatabaseName name,
      List<EditGroup> documents,
      boolean isAtomic,
      List<Verdict> verdicts) {
    this.by = by;
    this.tx = tx;
    this.documents = documents;
    this.isAtomic = isAtomic;
    this.mostBytes = isAtomic ? by.mostBytes : by.batchBytes;
    this.mostWork = (isAtomic ? ATOMIC_BATCHES : 1) * EditWork.MAX_AT_ONCE;
    if (documents.stream().allMatch(EditGroup::frees)) {
      TransactionRunner.freesSpace(tx);
    }
    this.db = by.catalogue.currentForChanges(tx, name);
    this.writer = new UpdateWriter(tx, db);
    Optional<LectusError> atWorkEnd = isAtomic ? Optional.of(tooMuchWork()) : Optional.empty();
    this.validation =
        by.ignoresValidation || db.validators().isEmpty()
            ? Optional.empty()
            : Optional.of(new Validation(tx, db, verdicts, mostWork, atWorkEnd));
  }

  /**
   * Returns what learns from the documents of a write how many to plan at a time.
   *
   * @param most that one transaction takes
   */
  static ReadAhead ahead(int most) {
    return new ReadAhead(FIRST_DOCUMENTS, most, PLANNED_BYTES);
  }

  DatabaseHandle db() {
    return db;
  }

  /** Returns the documents with their outcomes. */
  List<PlannedDocument> done() {
    return done;
  }

  /** Returns the edits that no longer fitted. */
  List<EditGroup> deferred() {
    return documents.subList(done.size(), documents.size());
  }

  /** Returns what the transaction weighs, in bytes. */
  long bytes() {
    return weight;
  }

  /** Whether the transaction has anything to commit. */
  boolean writes() {
    return done.stream().anyMatch(document -> document.update().isPresent());
  }

  /**
   * Writes the documents.
   *
   * @param ahead of the same write's transactions
   * @throws LectusException {@code too_large} if all have to fit and do not
   */
  EditTransaction write(ReadAhead ahead) {
    planAll(ahead);
    boolean hasFailed = isAtomic && done.stream().anyMatch(PlannedDocument::hasFailed);
    if (hasFailed || (isAtomic && done.stream().anyMatch(PlannedDocument::isUnjudged))) {
      withhold(hasFailed);
      return this;
    }
    if (isAtomic && done.size() < documents.size()) {
      throw new LectusException(tooLarge());
    }
    List<PlannedUpdate> updates = new ArrayList<>(done.size());
    done.forEach(plan -> plan.update().ifPresent(updates::add));
    writer.write(updates);
    writer.finish();
    if (writer.written() > 0) {
      by.catalogue.noteUpdate(tx, db);
    }
    boolean changesIndexes = listIndexes(updates);
    if (writer.changesHandle() || changesIndexes) {
      by.catalogue.moveVersion(tx, db);
    }
    return this;
  }

  /** Writes none of the documents. Functions need not judge what is not stored in any case. */
  private void withhold(boolean hasFailed) {
    List<PlannedDocument> withheld = new ArrayList<>(documents.size());
    for (PlannedDocument plan : done) {
      boolean isTold = plan.hasFailed() || (plan.isUnjudged() && !hasFailed);
      withheld.add(isTold ? plan : PlannedDocument.withheld(plan.edits()));
    }
    deferred().forEach(edits -> withheld.add(PlannedDocument.withheld(edits)));
    done = withheld;
    weight = 0;
  }

  /**
   * Returns how many of so many documents to plan next, none if the next is not expected to fit.
   * All of an atomic request have to fit.
   */
  private int next(int left, ReadAhead ahead) {
    if (isAtomic) {
      return left;
    }
    long fitting = ahead.fitting(mostBytes - weight);
    return (int) Math.min(left, done.isEmpty() ? Math.max(1, fitting) : fitting);
  }

  /** Returns whether there was room for the document. */
  private boolean take(PlannedDocument plan) {
    long its = plan.update().map(writer::weight).orElse(0L);
    if (its > by.mostBytes) {
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
  private void takeAll(List<PlannedDocument> plans) {
    for (PlannedDocument plan : plans) {
      if (!take(plan)) {
        return;
      }
    }
  }

  private LectusError tooLarge() {
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

  private static LectusError tooMuchWork() {
    return new LectusError.TooLarge(
        "too_large",
        "The selectors of indexes, stored feeds and validators take too much work for one"
            + " transaction.");
  }

  /** Once everything is written: a new index may have all documents at once. */
  private boolean listIndexes(List<PlannedUpdate> updates) {
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
    IndexListing listing = new IndexListing(tx, db, by.root);
    changing.forEach(
        it -> listing.change(it.id(), it.design().flatMap(DesignChange::indexes).orElseThrow()));
    return listing.finish();
  }

  /**
   * Plans documents until the transaction is full: some, and then as many at a time as their size
   * lets expect to fit, because what indexes and stored feeds look at is known only once it is
   * read. What does not fit is planned again in the next transaction, which knows the size.
   */
  private void planAll(ReadAhead ahead) {
    Optional<Maintenance> maintenance =
        db.indexes().isEmpty() && db.feeds().isEmpty()
            ? Optional.empty()
            : Optional.of(new Maintenance(tx, db, mostWork));
    int from = 0;
    int next = 0;
    while (from == done.size() && maintenance.filter(Maintenance::isSpent).isEmpty()) {
      int left = documents.size() - from;
      next = from + next(maintenance.isEmpty() ? left : Math.min(left, ahead.size()), ahead);
      if (next == from) {
        return;
      }
      long before = weight + maintenance.map(Maintenance::bytesRead).orElse(0L);
      List<PlannedDocument> plans = plan(documents.subList(from, next));
      if (maintenance.isPresent()) {
        maintenance.get().add(plans, mostBytes - weight, this::take);
      } else {
        takeAll(plans);
      }
      int taken = Math.max(1, done.size() - from);
      ahead.took(taken, weight + maintenance.map(Maintenance::bytesRead).orElse(0L) - before);
      from = next;
    }
  }

  private List<PlannedDocument> plan(List<EditGroup> some) {
    Map<Edit, LectusError> lacking = new IdentityHashMap<>(0);
    List<EditGroup> resolved = resolved(some, lacking);
    PlanningScope scope = new PlanningScope(tx, db, writer, by.rule, validation, lacking);
    List<DocumentPlanner> planners = new ArrayList<>(some.size());
    for (EditGroup edits : resolved) {
      planners.add(scope.begin(edits));
    }
    readAll(planners);
    List<PlannedDocument> plans = new ArrayList<>(some.size());
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
            + by.mostBytes
            + ".");
  }

  /**
   * Returns the edits with all attachments known by their contents, as the transaction sees them.
   * Reads nothing if none has attachments.
   *
   * @param lacking gets the edits whose attachments cannot be had, and why
   */
  private List<EditGroup> resolved(List<EditGroup> some, Map<Edit, LectusError> lacking) {
    Map<EditGroup, AttachmentResolution> begun = new IdentityHashMap<>();
    for (EditGroup group : some) {
      if (group.edits().stream().anyMatch(edit -> !edit.attachments().all().isEmpty())) {
        begun.put(group, new AttachmentResolution(tx, db, group));
      }
    }
    if (begun.isEmpty()) {
      return some;
    }
    begun.values().forEach(AttachmentResolution::readOn);
    List<EditGroup> resolved = new ArrayList<>(some.size());
    for (EditGroup group : some) {
      AttachmentResolution resolution = begun.get(group);
      resolved.add(resolution == null ? group : resolution.finish(lacking));
    }
    return resolved;
  }
}
