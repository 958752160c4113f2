package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.access.DatabaseRight;
import lectus.access.SecurityObject;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentId;
import lectus.document.PartitionedId;
import lectus.document.body.DocumentsSubspace;
import lectus.document.design.DesignRules;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.LocalEdit;
import lectus.document.edit.PurgeEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.error.LectusError;
import lectus.revision.Ancestors;
import lectus.revision.BodySize;
import lectus.revision.BranchMerge;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
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
  private final int revsLimit;
  private final WriteRules rules;
  private final Map<Edit, LectusError> lacking;
  private final RevisionDigest digest = new RevisionDigest();

  /**
   * @param lacking the edits whose attachments cannot be had, and why
   */
  PlanningScope(
      Transaction tx, DatabaseHandle db, WriteRules rules, Map<Edit, LectusError> lacking) {
    this.lacking = lacking;
    this.tx = tx;
    this.db = db;
    this.rules = rules;
    this.revisions = new RevisionsSubspace(db);
    this.documents = new DocumentsSubspace(db);
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

  /** Returns the planner for the edits, with its first reads begun. */
  DocumentPlanner begin(EditGroup edits) {
    if (edits.edits().get(0) instanceof LocalEdit local) {
      return rules
          .rule()
          .refusal(db, local)
          .or(() -> rules.rule().problem(tx, db, local))
          .<DocumentPlanner>map(error -> new ForbiddenEdits(edits, error))
          .orElseGet(() -> new LocalPlanner(edits, local));
    }
    if (edits.edits().get(0) instanceof PurgeEdit purge) {
      return purging(edits, purge);
    }
    Optional<LectusError> problem =
        PartitionedId.problem(db, edits.id())
            .or(() -> rules.rule().refusal(db, edits.edits().get(0)));
    if (problem.isPresent()) {
      return new ForbiddenEdits(edits, problem.get());
    }
    DocumentPlanner planner =
        edits.isReplicated() ? new ReplicationPlanner(this, edits) : interactive(edits);
    return DocumentId.isDesign(edits.id()) ? new DesignPlanner(this, planner, edits.id()) : planner;
  }

  /** What is no document's id is none here either. */
  private DocumentPlanner purging(EditGroup edits, PurgeEdit purge) {
    Optional<LectusError> refusal = rules.rule().refusal(db, purge);
    DocumentPlanner planner =
        refusal
            .<DocumentPlanner>map(error -> new ForbiddenEdits(edits, error))
            .orElseGet(() -> new PurgePlanner(this, edits, purge));
    return DocumentId.isDesign(edits.id()) ? new DesignPlanner(this, planner, edits.id()) : planner;
  }

  private DocumentPlanner interactive(EditGroup edits) {
    InteractiveEdit edit = (InteractiveEdit) edits.edits().get(0);
    DocumentPlanner planner = unvetoed(edits, edit);
    return veto(edit)
        .<DocumentPlanner>map(error -> new VetoedEdits(planner, edits, error))
        .orElse(planner);
  }

  /**
   * As in CouchDB, design documents are not validated; otherwise nobody could remove a validation.
   */
  private Optional<LectusError> veto(InteractiveEdit edit) {
    return problem(edit).or(() -> unrunValidator(edit).map(PlanningScope::notValidated));
  }

  /** Returns the design document that should judge the edit, whose function nothing runs. */
  private Optional<String> unrunValidator(Edit edit) {
    return DocumentId.isDesign(edit.id()) || rules.ignoresValidation()
        ? Optional.empty()
        : db.validator();
  }

  /** What nobody judges is taken from those who could remove the validation. */
  private Optional<LectusError> problemOfReplication(Edit edit) {
    boolean isByAdmin =
        db.security().orElse(SecurityObject.ADMIN_ONLY).rightOf(edit.by()) == DatabaseRight.ADMIN;
    return edit instanceof ReplicatedEdit && !isByAdmin
        ? unrunValidator(edit).map(PlanningScope::onlyByAdmins)
        : Optional.empty();
  }

  /** Returns why the server itself does not allow the edit, whatever revision it has. */
  Optional<LectusError> problem(Edit edit) {
    return rules
        .rule()
        .problem(tx, db, edit)
        .or(() -> Optional.ofNullable(lacking.get(edit)))
        .or(() -> problemOfDesign(edit))
        .or(() -> problemOfReplication(edit));
  }

  private Optional<LectusError> problemOfDesign(Edit edit) {
    return DocumentId.isDesign(edit.id())
        ? DesignRules.problem(edit.body(), db.configuration().partitioned())
        : Optional.empty();
  }

  private static LectusError notValidated(String designId) {
    return new LectusError.NotImplemented(
        "The function validate_doc_update of "
            + designId
            + " cannot be run yet, so nothing is written that it should look at. The server's"
            + " setting documents.ignore-validate-doc-update = true writes without it.");
  }

  private static LectusError onlyByAdmins(String designId) {
    return new LectusError.Forbidden(
        "The function validate_doc_update of "
            + designId
            + " cannot be run yet, so only admins of the database write with new_edits=false what"
            + " it should look at.");
  }

  private DocumentPlanner unvetoed(EditGroup edits, InteractiveEdit edit) {
    if (edit.base().isEmpty()) {
      return new InsertPlanner(this, edits, edit);
    }
    return edit.deleted()
        ? new DeletionPlanner(this, edits, edit, edit.base().get())
        : new ExtensionPlanner(this, edits, edit, edit.base().get());
  }

  BranchMerge merge(List<EditBranch> stored) {
    return new BranchMerge(stored, revsLimit);
  }

  /** Returns the revision that the edit makes from its parent. */
  RevisionId childOf(Optional<RevisionId> parent, InteractiveEdit edit) {
    long position = parent.map(RevisionId::position).orElse(0L) + 1;
    AttachmentList attachments = edit.attachments().of(false, position);
    return new RevisionId(position, digest.of(parent, edit.deleted(), edit.body(), attachments));
  }

  /** Returns the edit's new leaf below the leaf of {@code parent}. */
  EditBranch branchBelow(EditBranch parent, RevisionId child, InteractiveEdit edit) {
    Ancestors ancestors = parent.ancestors().below(parent.leaf().hash(), revsLimit - 1);
    return new EditBranch(child, edit.deleted(), ancestors, sizeOf(edit, child), null);
  }

  /** Returns what the edit's new leaf contains. */
  LeafContent contentOf(Edit edit, RevisionId revision) {
    boolean isReplicated = edit instanceof ReplicatedEdit;
    return new LeafContent(edit.body(), edit.attachments().of(isReplicated, revision.position()));
  }

  BodySize sizeOf(Edit edit, RevisionId revision) {
    AttachmentList attachments = contentOf(edit, revision).attachments();
    if (edit.deleted() && edit.body().isEmpty() && attachments.isEmpty()) {
      return BodySize.NONE;
    }
    long stored =
        documents.storedBytes(edit.id(), edit.deleted(), revision, edit.body(), attachments);
    long external = edit.body().jsonBytes() + attachments.length();
    return new BodySize(external, stored, attachments.size());
  }

  PlannedDocument written(
      EditGroup edits, InteractiveEdit edit, RevisionId revision, BranchUpdate branches) {
    return PlannedDocument.written(
        edits,
        new EditOutcome.Written(edit.id(), revision),
        new DocumentUpdate(edit.id(), branches, Map.of(revision, contentOf(edit, revision))));
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
    merge.add(path, edit.deleted(), sizeOf(edit, revision));
    Map<RevisionId, LeafContent> noBodies = Map.of();
    return PlannedDocument.written(
        edits,
        new EditOutcome.Written(edit.id(), revision),
        new DocumentUpdate(edit.id(), merge.update().orElseThrow(), noBodies));
  }
}
