package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.PurgesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Validator;
import lectus.database.ValidatorsSubspace;
import lectus.derived.IndexDefinition;
import lectus.derived.rows.IndexListing;
import lectus.document.BodyRows;
import lectus.document.DocumentId;
import lectus.document.DocumentsSubspace;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.LocalEdit;
import lectus.document.edit.PurgeEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.LocalDocsSubspace;
import lectus.document.write.DocumentUpdate.DesignChange;
import lectus.document.write.PlannedUpdate.LocalUpdate;
import lectus.document.write.WriteRules.EditRule;
import lectus.error.LectusError;
import lectus.revision.Ancestors;
import lectus.revision.BranchMerge;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.EditBranch.Winner;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** What the planners of one transaction share. */
final class PlanningScope {
  private final Transaction tx;
  private final DatabaseHandle db;
  private final RevisionsSubspace revisions;
  private final DocumentsSubspace documents;
  private final AllDocsSubspace allDocs;
  private final int revsLimit;
  private final EditRule rule;
  private final Optional<Validation> validation;
  private final Map<Edit, LectusError> lacking;
  private final Map<Edit, BodyRows> rows = new IdentityHashMap<>();

  /**
   * @param validation empty: nothing judges edits
   * @param lacking the edits whose attachments cannot be had, and why
   */
  PlanningScope(
      Transaction tx,
      DatabaseHandle db,
      UpdateWriter writer,
      EditRule rule,
      Optional<Validation> validation,
      Map<Edit, LectusError> lacking) {
    this.validation = validation;
    this.lacking = lacking;
    this.tx = tx;
    this.db = db;
    this.rule = rule;
    this.revisions = writer.revisions;
    this.documents = writer.documents;
    this.allDocs = writer.allDocs;
    this.revsLimit = db.configuration().revsLimit();
  }

  Transaction tx() {
    return tx;
  }

  DatabaseHandle db() {
    return db;
  }

  RevisionsSubspace revisions() {
    return revisions;
  }

  AllDocsSubspace allDocs() {
    return allDocs;
  }

  Optional<Validation> validation() {
    return validation;
  }

  /** Returns the planner for the edits, with its first reads begun. */
  DocumentPlanner begin(EditGroup edits) {
    Optional<CompletableFuture<Boolean>> holds = edits.fence().map(fence -> fence.holds(tx));
    DocumentPlanner planner = unfenced(edits);
    return holds.<DocumentPlanner>map(it -> new FencedEdits(edits, planner, it)).orElse(planner);
  }

  private DocumentPlanner unfenced(EditGroup edits) {
    if (edits.edits().get(0) instanceof LocalEdit local) {
      return rule.refusal(db, local)
          .or(() -> rule.problem(tx, db, local))
          .<DocumentPlanner>map(error -> new ForbiddenEdits(edits, error))
          .orElseGet(() -> new LocalPlanner(edits, local, new LocalDocsSubspace(db).rows(local)));
    }
    if (edits.edits().get(0) instanceof PurgeEdit purge) {
      return purging(edits, purge);
    }
    Optional<LectusError> problem =
        DocumentId.problem(db, edits.id()).or(() -> rule.refusal(db, edits.edits().get(0)));
    if (problem.isPresent()) {
      return new ForbiddenEdits(edits, problem.get());
    }
    DocumentPlanner planner =
        edits.isReplicated() ? new ReplicationPlanner(this, edits) : interactive(edits);
    return DocumentId.isDesign(edits.id()) ? new DesignPlanner(this, planner, edits.id()) : planner;
  }

  /** What is no document's id is none here either. */
  private DocumentPlanner purging(EditGroup edits, PurgeEdit purge) {
    Optional<LectusError> refusal = rule.refusal(db, purge);
    DocumentPlanner planner =
        refusal
            .<DocumentPlanner>map(error -> new ForbiddenEdits(edits, error))
            .orElseGet(() -> new PurgePlanner(this, edits, purge));
    return DocumentId.isDesign(edits.id()) ? new DesignPlanner(this, planner, edits.id()) : planner;
  }

  private DocumentPlanner interactive(EditGroup edits) {
    InteractiveEdit edit = (InteractiveEdit) edits.edits().get(0);
    DocumentPlanner planner =
        edit.base().isEmpty()
            ? new InsertPlanner(this, edits, edit)
            : new FollowingPlanner(this, edits, edit, edit.base().get());
    return validation
        .<DocumentPlanner>map(judge -> new JudgedEdit(judge, planner, edits, edit))
        .orElse(planner);
  }

  /** Returns why the server itself does not allow the edit, whatever revision it has. */
  Optional<LectusError> problem(Edit edit) {
    return rule.problem(tx, db, edit)
        .or(() -> Optional.ofNullable(lacking.get(edit)))
        .or(() -> problemOfDesign(edit));
  }

  /** As in CouchDB, a function or a selector that is broken is refused only if it is new. */
  private Optional<LectusError> problemOfDesign(Edit edit) {
    if (!DocumentId.isDesign(edit.id())) {
      return Optional.empty();
    }
    Optional<LectusError> problem =
        DesignRules.problem(edit.body(), db.configuration().partitioned());
    return edit instanceof InteractiveEdit && !edit.deleted()
        ? problem.or(
            () ->
                ValidationMember.in(edit.body())
                    .flatMap(ValidationMember::declaration)
                    .flatMap(Validator.Declaration::fault))
        : problem;
  }

  BranchMerge merge(List<EditBranch> stored) {
    return new BranchMerge(stored, revsLimit);
  }

  /** Returns the edit's new leaf below the leaf of {@code parent}. */
  EditBranch branchBelow(EditBranch parent, RevisionId child, InteractiveEdit edit) {
    Ancestors ancestors = parent.ancestors().below(parent.leaf().hash(), revsLimit - 1);
    return new EditBranch(
        child, edit.deleted(), ancestors, sizeOf(edit, rowsOf(edit, child)), null);
  }

  /**
   * Returns the body of the edit's new leaf.
   *
   * @param revision the same in all calls
   */
  BodyRows rowsOf(Edit edit, RevisionId revision) {
    return rows.computeIfAbsent(
        edit,
        it ->
            documents.rows(
                it.id(),
                it.deleted(),
                revision,
                it.body(),
                it.attachments().of(it instanceof ReplicatedEdit, revision.position())));
  }

  static BodySize sizeOf(Edit edit, BodyRows rows) {
    int attachments = rows.attachments().all().size();
    if (edit.deleted() && edit.body().isEmpty() && attachments == 0) {
      return BodySize.NONE;
    }
    long external = edit.body().jsonBytes() + rows.attachments().length();
    return new BodySize(external, rows.bytes(), attachments);
  }

  /** Returns what becomes of an edit that is in no conflict: as in CouchDB, that is found first. */
  PlannedDocument written(
      EditGroup edits,
      InteractiveEdit edit,
      RevisionId revision,
      BranchUpdate branches,
      Map<RevisionId, BodyRows> bodies) {
    return problem(edit)
        .map(error -> PlannedDocument.failed(edits, error))
        .orElseGet(
            () ->
                PlannedDocument.written(
                    edits,
                    new EditOutcome.Written(edit.id(), revision),
                    new DocumentUpdate(edit.id(), branches, bodies)));
  }

  PlannedDocument written(
      EditGroup edits, InteractiveEdit edit, RevisionId revision, BranchUpdate branches) {
    return written(edits, edit, revision, branches, Map.of(revision, rowsOf(edit, revision)));
  }

  /**
   * Plans an interactive edit that replaces the leaf {@code base}.
   *
   * @param made the edit's leaf
   */
  PlannedDocument followed(
      EditGroup edits, InteractiveEdit edit, RevisionId base, EditBranch made, SameRevision same) {
    EditBranch branch =
        same.branches().stream()
            .filter(it -> !it.deleted() && it.leaf().equals(base))
            .findFirst()
            .orElseThrow();
    return same.isThere()
        ? joined(edits, edit, branch, made.leaf())
        : written(
            edits,
            edit,
            made.leaf(),
            BranchUpdate.of(same.branches(), List.of(branch), List.of(made)));
  }

  /**
   * Plans an interactive edit whose revision a replicator has already brought, without the history
   * that ends in the edit's base: the two branches become one. Reads all branches.
   */
  private PlannedDocument joined(
      EditGroup edits, InteractiveEdit edit, EditBranch base, RevisionId revision) {
    BranchMerge merge = merge(Awaiting.await(revisions.branches(tx, edit.id())));
    RevisionPath path =
        new RevisionPath(base.leaf(), base.ancestors().toList()).followedBy(revision);
    merge.add(path, edit.deleted(), sizeOf(edit, rowsOf(edit, revision)));
    return written(edits, edit, revision, merge.update().orElseThrow(), Map.of());
  }

  /** Edits of a task that another server may have taken over. */
  private record FencedEdits(
      EditGroup edits, DocumentPlanner planner, CompletableFuture<Boolean> holds)
      implements DocumentPlanner {
    private static final LectusError LOST =
        new LectusError.PreconditionFailed("fence_lost", "Another server has this task now.");

    @Override
    public boolean readOn() {
      return planner.readOn();
    }

    @Override
    public PlannedDocument plan() {
      return Awaiting.await(holds) ? planner.plan() : PlannedDocument.failed(edits, LOST);
    }
  }

  /** Edits that their database never allows. */
  private record ForbiddenEdits(EditGroup edits, LectusError error) implements DocumentPlanner {
    @Override
    public boolean readOn() {
      // There is nothing to read.
      return false;
    }

    @Override
    public PlannedDocument plan() {
      return PlannedDocument.failed(edits, error);
    }
  }

  /**
   * An interactive edit that is judged once it is planned: CouchDB, too, finds conflicts before it
   * validates.
   */
  private static final class JudgedEdit implements DocumentPlanner {
    private final Validation validation;
    private final DocumentPlanner planner;
    private final EditGroup edits;
    private final InteractiveEdit edit;
    private PlannedDocument planned;
    private Optional<Validation.Judgement> judgement = Optional.empty();

    JudgedEdit(
        Validation validation, DocumentPlanner planner, EditGroup edits, InteractiveEdit edit) {
      this.validation = validation;
      this.planner = planner;
      this.edits = edits;
      this.edit = edit;
    }

    @Override
    public boolean readOn() {
      if (planned != null) {
        return false;
      }
      if (planner.readOn()) {
        return true;
      }
      planned = planner.plan();
      judgement = planned.replicating().flatMap(this::judgement);
      return judgement.filter(Validation.Judgement::isReading).isPresent();
    }

    private Optional<Validation.Judgement> judgement(DocumentUpdate update) {
      Optional<EditBranch> old =
          update.branches().cleared().stream()
              .filter(it -> !it.deleted() && Optional.of(it.leaf()).equals(edit.base()))
              .findFirst();
      EditOutcome.Written made = (EditOutcome.Written) planned.outcomes().get(0);
      return validation.begin(
          edit,
          edits.places().get(0),
          made.revision(),
          old,
          update.branches().formerWinner().map(it -> it.winner().sequence()));
    }

    @Override
    public PlannedDocument plan() {
      return judgement
          .flatMap(Validation.Judgement::finish)
          .map(outcome -> new PlannedDocument(edits, List.of(outcome), Optional.empty()))
          .orElse(planned);
    }
  }

  /**
   * Plans a write of a local document. It reads nothing, because it replaces whatever is stored.
   */
  private record LocalPlanner(EditGroup edits, LocalEdit edit, BodyRows rows)
      implements DocumentPlanner {
    @Override
    public boolean readOn() {
      // There is nothing to read.
      return false;
    }

    @Override
    public PlannedDocument plan() {
      EditOutcome written =
          new EditOutcome.Written(edit.id(), LocalDocsSubspace.revision(edit.number()));
      return new PlannedDocument(edits, List.of(written), Optional.of(new LocalUpdate(edit, rows)));
    }
  }

  /**
   * Plans the removal of leaves. All branches are read, with a conflict: an edit that comes in
   * between is seen or loses. If branches are left, the document gets a new place in the changes,
   * as in CouchDB.
   */
  private static final class PurgePlanner implements DocumentPlanner {
    private final EditGroup edits;
    private final PurgeEdit edit;
    private final CompletableFuture<List<EditBranch>> branches;

    PurgePlanner(PlanningScope scope, EditGroup edits, PurgeEdit edit) {
      this.edits = edits;
      this.edit = edit;
      this.branches = scope.revisions().branches(scope.tx(), edit.id());
    }

    @Override
    public boolean readOn() {
      return false;
    }

    @Override
    public PlannedDocument plan() {
      List<EditBranch> stored = Awaiting.await(branches);
      List<EditBranch> gone = edit.leaves().among(stored);
      List<RevisionId> leaves = gone.stream().map(EditBranch::leaf).toList();
      if (PurgesSubspace.sizeOf(leaves) > PurgesSubspace.MAX_BYTES) {
        return PlannedDocument.failed(edits, tooMany());
      }
      EditOutcome outcome = new EditOutcome.Purged(edit.id(), leaves);
      return new PlannedDocument(
          edits,
          List.of(outcome),
          gone.isEmpty()
              ? Optional.empty()
              : Optional.of(
                  DocumentUpdate.purging(
                      edit.id(), BranchUpdate.of(stored, gone, List.of()), leaves)));
    }

    private static LectusError tooMany() {
      return new LectusError.TooLarge(
          "too_large", "So many revisions of a document cannot be purged at once.");
    }
  }

  /**
   * Plans an edit without a base: a new document, or one that continues the winning tombstone of a
   * deleted document. Reads whether there is anything, in one round trip, and the tombstone in a
   * second.
   */
  private static final class InsertPlanner implements DocumentPlanner {
    private final PlanningScope scope;
    private final EditGroup edits;
    private final InteractiveEdit edit;
    private final CompletableFuture<AllDocsSubspace.Presence> presence;
    private CompletableFuture<Optional<EditBranch>> tombstone;

    InsertPlanner(PlanningScope scope, EditGroup edits, InteractiveEdit edit) {
      this.scope = scope;
      this.edits = edits;
      this.edit = edit;
      this.presence = scope.allDocs().presence(scope.tx(), edit.id());
      scope.revisions().conflictWithEdits(scope.tx(), edit.id());
    }

    @Override
    public boolean readOn() {
      if (tombstone != null || !isRevival()) {
        return false;
      }
      tombstone = scope.revisions().winner(scope.tx(), edit.id());
      return true;
    }

    /** As in CouchDB, a deletion without a base is allowed only as a document's first revision. */
    private boolean isRevival() {
      return Awaiting.await(presence) == AllDocsSubspace.Presence.DELETED && !edit.deleted();
    }

    @Override
    public PlannedDocument plan() {
      if (tombstone != null) {
        return revived(Awaiting.await(tombstone).orElseThrow());
      }
      return Awaiting.await(presence) == AllDocsSubspace.Presence.NONE
          ? first()
          : PlannedDocument.failed(edits, new LectusError.Conflict());
    }

    private PlannedDocument first() {
      RevisionId revision = edit.child(Optional.empty());
      EditBranch leaf =
          new EditBranch(
              revision,
              edit.deleted(),
              Ancestors.NONE,
              sizeOf(edit, scope.rowsOf(edit, revision)),
              null);
      return scope.written(
          edits, edit, revision, BranchUpdate.of(List.of(), List.of(), List.of(leaf)));
    }

    private PlannedDocument revived(EditBranch tombstone) {
      RevisionId revision = edit.child(Optional.of(tombstone.leaf()));
      List<EditBranch> replaced = List.of(tombstone);
      List<EditBranch> added = List.of(scope.branchBelow(tombstone, revision, edit));
      return scope.written(edits, edit, revision, BranchUpdate.of(replaced, replaced, added));
    }
  }

  /**
   * An edit that extends or deletes a live branch. To extend the winning one it reads one key in
   * one round trip; to delete it, the branch right before it as well, which may win now. A losing
   * one: the winner, too, in a second, since both may have to be written. And rarely {@link
   * SameRevision}.
   */
  private static final class FollowingPlanner implements DocumentPlanner {
    private final PlanningScope scope;
    private final EditGroup edits;
    private final InteractiveEdit edit;
    private final RevisionId base;
    private final RevisionId child;
    private final CompletableFuture<List<EditBranch>> baseAndNext;
    private CompletableFuture<Optional<EditBranch>> winner;
    private EditBranch leaf;
    private SameRevision same;

    FollowingPlanner(PlanningScope scope, EditGroup edits, InteractiveEdit edit, RevisionId base) {
      RevisionsSubspace revisions = scope.revisions();
      this.scope = scope;
      this.edits = edits;
      this.edit = edit;
      this.base = base;
      this.child = edit.child(Optional.of(base));
      this.baseAndNext =
          edit.deleted()
              ? revisions.withNextInLine(scope.tx(), edit.id(), base)
              : revisions
                  .branch(scope.tx(), edit.id(), false, base)
                  .thenApply(branch -> branch.stream().toList());
    }

    @Override
    public boolean readOn() {
      if (leaf == null && isBaseFound()) {
        leaf = scope.branchBelow(Awaiting.await(baseAndNext).get(0), child, edit);
        return readWinner() || readSame();
      }
      return leaf != null && same == null && readSame();
    }

    private boolean isBaseFound() {
      List<EditBranch> found = Awaiting.await(baseAndNext);
      return !found.isEmpty() && !found.get(0).deleted() && found.get(0).leaf().equals(base);
    }

    private boolean readWinner() {
      if (Awaiting.await(baseAndNext).get(0).isWinner()) {
        return false;
      }
      winner = scope.revisions().winner(scope.tx(), edit.id());
      return true;
    }

    /**
     * A live leaf above its base lies anywhere below the winner, or nowhere if that is the base. A
     * tombstone lies below every live branch, so below the next in line, or nowhere.
     */
    private boolean readSame() {
      List<EditBranch> known = new ArrayList<>(Awaiting.await(baseAndNext));
      Optional<EditBranch> above =
          edit.deleted() ? known.stream().skip(1).findFirst() : Optional.empty();
      if (winner != null) {
        EditBranch its = Awaiting.await(winner).orElseThrow();
        known.add(its);
        above = edit.deleted() ? above : Optional.of(its);
      }
      same = new SameRevision(scope, edit.id(), leaf, known);
      return same.readBelow(above);
    }

    @Override
    public PlannedDocument plan() {
      return leaf == null
          ? PlannedDocument.failed(edits, new LectusError.Conflict())
          : scope.followed(edits, edit, base, leaf, same);
    }
  }

  /**
   * Plans edits of a design document. They may also change whether it asks for validation, and
   * which indexes its database has. Its winner decides that, whether it is a new leaf or a promoted
   * one.
   */
  private static final class DesignPlanner implements DocumentPlanner {
    private final PlanningScope scope;
    private final DocumentPlanner planner;
    private final String id;
    private final CompletableFuture<Boolean> isListed;

    DesignPlanner(PlanningScope scope, DocumentPlanner planner, String id) {
      this.scope = scope;
      this.planner = planner;
      this.id = id;
      this.isListed = new ValidatorsSubspace(scope.db().prefix()).contains(scope.tx(), id);
    }

    @Override
    public boolean readOn() {
      return planner.readOn();
    }

    @Override
    public PlannedDocument plan() {
      PlannedDocument planned = planner.plan();
      boolean wasListed = Awaiting.await(isListed);
      return planned
          .update()
          .map(DocumentUpdate.class::cast)
          .map(update -> planned.writing(update.with(change(update, wasListed))))
          .orElse(planned);
    }

    private DesignChange change(DocumentUpdate update, boolean wasListed) {
      List<IndexDefinition> indexes = indexes(update);
      return new DesignChange(
          wasListed,
          liveWinner(update).flatMap(winner -> validation(update, winner.leaf())),
          Optional.of(indexes).filter(it -> IndexListing.changes(scope.db(), id, it)));
    }

    private List<IndexDefinition> indexes(DocumentUpdate update) {
      Optional<EditBranch> live = liveWinner(update);
      if (live.isEmpty()) {
        return List.of();
      }
      EditBranch winner = live.get();
      boolean isPartitioned = scope.db().configuration().partitioned();
      return Optional.ofNullable(update.bodies().get(winner.leaf()))
          .map(content -> DescribedIndexes.in(id, content.body(), isPartitioned))
          .orElseGet(() -> DescribedIndexes.stored(scope.tx(), scope.db(), id, winner.leaf()));
    }

    private static Optional<EditBranch> liveWinner(DocumentUpdate update) {
      return update.branches().winner().filter(it -> !it.deleted());
    }

    private Optional<ValidationMember> validation(DocumentUpdate update, RevisionId winner) {
      BodyRows written = update.bodies().get(winner);
      return written == null
          ? ValidationMember.stored(scope.tx(), scope.db(), id, winner)
          : ValidationMember.in(written.body());
    }
  }

  /**
   * Finds out whether the revision that an edit makes is a leaf of its document already. Equal
   * edits make equal revisions, so a replicator may have brought it without the history that ends
   * in the edit's base.
   *
   * <p>The branches that the edit reads anyway usually rule this out (RFC 001, the performance
   * profile): they are all that the winner counts, or the revision would sort where no unread
   * branch can be, or it is not among the leaves that the winner lists. Otherwise its key is read,
   * too; or all branches, if the winner could list them and does not, so that it will.
   */
  static final class SameRevision {
    private final PlanningScope scope;
    private final String id;
    private final EditBranch made;
    private final List<EditBranch> known;
    private CompletableFuture<Optional<EditBranch>> itself;
    private CompletableFuture<List<EditBranch>> all;

    /**
     * @param known the branches read, the winner among them
     */
    SameRevision(PlanningScope scope, String id, EditBranch made, List<EditBranch> known) {
      this.scope = scope;
      this.id = id;
      this.made = made;
      this.known = known;
    }

    /**
     * Starts to read what the known branches do not decide.
     *
     * @param above of these, the one below which unread ones may be the one in question; empty if
     *     none may
     * @return whether a read was begun
     */
    boolean readBelow(Optional<EditBranch> above) {
      Winner winner =
          known.stream().filter(EditBranch::isWinner).findFirst().orElseThrow().winner();
      boolean mayBeUnread =
          winner.branchCount() > known.size()
              && above.map(it -> it.beats(made)).orElse(false)
              && winner.mayHaveBeside(made.leaf())
              && known.stream().noneMatch(this::isMade);
      if (mayBeUnread && winner.couldList()) {
        all = scope.revisions().branches(scope.tx(), id);
      } else if (mayBeUnread) {
        itself = scope.revisions().branch(scope.tx(), id, made.deleted(), made.leaf());
      }
      return mayBeUnread;
    }

    boolean isThere() {
      return branches().stream().anyMatch(this::isMade)
          || (itself != null && Awaiting.await(itself).isPresent());
    }

    /** Returns all branches if they were read, and otherwise the known ones. */
    List<EditBranch> branches() {
      return all == null ? known : Awaiting.await(all);
    }

    private boolean isMade(EditBranch branch) {
      return branch.deleted() == made.deleted() && branch.leaf().equals(made.leaf());
    }
  }
}
