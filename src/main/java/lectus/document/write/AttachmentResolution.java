package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.Md5;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentsSubspace;
import lectus.document.edit.AttachmentEdits;
import lectus.document.edit.Edit;
import lectus.document.edit.EditedAttachment;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.error.LectusError;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Finds out what the stubs of one document's edits stand for, and whether the new contents are
 * there. A stub with a SHA-256 stands for that content, whichever document has it. An interactive
 * edit takes its stubs from the revision that it replaces. A replicated one takes them by their MD5
 * from any leaf, since the revision from which the replicator took them may be gone here, or have
 * other contents under these names; those without an MD5 from a leaf that it extends.
 */
final class AttachmentResolution {
  /** The most attachments of a leaf. */
  static final int MOST = 1_000;

  /** Maximum length of a leaf's list of attachments; it is one value in the store. */
  static final int MAX_BYTES = 95_000;

  private final Transaction tx;
  private final EditGroup group;
  private final DocumentsSubspace documents;
  private final RevisionsSubspace revisions;
  private final Map<ContentId, CompletableFuture<Optional<StoredContent>>> contents =
      new HashMap<>();
  private final List<Known> known = new ArrayList<>();
  private CompletableFuture<List<EditBranch>> branches;

  /** A leaf, stored or made by an earlier edit of the group, and its attachments. */
  private record Known(RevisionId leaf, CompletableFuture<AttachmentList> attachments) {}

  AttachmentResolution(Transaction tx, DatabaseHandle db, EditGroup group) {
    this.tx = tx;
    this.group = group;
    this.documents = new DocumentsSubspace(db);
    this.revisions = new RevisionsSubspace(db);
    ContentsSubspace rows = new ContentsSubspace(db.prefix());
    for (Edit edit : group.edits()) {
      edit.attachments()
          .ready()
          .forEach(it -> contents.computeIfAbsent(it.content(), id -> rows.get(tx, id)));
      if (isReadByAll(db)) {
        edit.attachments()
            .known()
            .forEach(it -> contents.computeIfAbsent(it.content(), id -> rows.get(tx, id)));
      }
    }
    if (hasStubs()) {
      begin();
    }
  }

  /** In a database of users, whoever knows a digest need not be one who may read the content. */
  private static boolean isReadByAll(DatabaseHandle db) {
    return !db.name().text().equals("_users");
  }

  private boolean hasStubs() {
    return group.edits().stream().anyMatch(edit -> !edit.attachments().stubs().isEmpty());
  }

  private void begin() {
    if (group.isReplicated()) {
      branches = revisions.branches(tx, group.id());
    } else if (group.edits().get(0) instanceof InteractiveEdit edit) {
      edit.base().ifPresent(base -> read(false, base));
    }
  }

  private void read(boolean deleted, RevisionId leaf) {
    known.add(new Known(leaf, documents.attachments(tx, group.id(), deleted, leaf)));
  }

  /** Begins the reads that depend on the first ones. */
  void readOn() {
    if (branches != null) {
      for (EditBranch branch : Awaiting.await(branches)) {
        if (branch.body().hasAttachments()) {
          read(branch.deleted(), branch.leaf());
        }
      }
    }
  }

  /**
   * @param lacking receives the edits whose attachments cannot be had
   */
  EditGroup finish(Map<Edit, LectusError> lacking) {
    List<Edit> resolved = new ArrayList<>(group.edits().size());
    for (Edit edit : group.edits()) {
      Edit whole = edit.withAttachments(resolved(edit));
      missing(edit, whole).ifPresent(error -> lacking.put(whole, error));
      resolved.add(whole);
      if (whole instanceof ReplicatedEdit made) {
        AttachmentList its = whole.attachments().of(true, made.path().leaf().position());
        known.add(new Known(made.path().leaf(), CompletableFuture.completedFuture(its)));
      }
    }
    return new EditGroup(group.id(), resolved, group.places());
  }

  /** Leaves out what cannot be had. */
  private AttachmentEdits resolved(Edit edit) {
    List<EditedAttachment> all = new ArrayList<>();
    for (EditedAttachment attachment : edit.attachments().all()) {
      if (attachment instanceof EditedAttachment.Stub stub) {
        find(edit, stub).ifPresent(it -> all.add(new EditedAttachment.Ready(it, false)));
      } else if (attachment instanceof EditedAttachment.Known named) {
        find(named).ifPresent(it -> all.add(new EditedAttachment.Ready(it, true)));
      } else {
        all.add(attachment);
      }
    }
    return new AttachmentEdits(all);
  }

  private Optional<LectusError> missing(Edit edit, Edit resolved) {
    Set<String> found = new HashSet<>();
    resolved.attachments().ready().forEach(it -> found.add(it.name()));
    List<String> missing =
        edit.attachments().all().stream()
            .map(EditedAttachment::name)
            .filter(it -> !found.contains(it))
            .toList();
    if (!missing.isEmpty()) {
      return Optional.of(new LectusError.MissingStub(edit.id(), missing));
    }
    AttachmentList all = new AttachmentList(resolved.attachments().ready());
    if (all.all().size() > MOST || all.encodedLength() > MAX_BYTES) {
      return Optional.of(tooMany());
    }
    return edit.attachments().ready().stream().anyMatch(it -> !isStored(it))
        ? Optional.of(
            new LectusError.Unavailable("An attachment was not kept for so long; send it again."))
        : Optional.empty();
  }

  private static LectusError tooMany() {
    return new LectusError.TooLarge(
        "too_many_attachments",
        "A document has at most "
            + MOST
            + " attachments, whose names and types together take about "
            + MAX_BYTES
            + " bytes.");
  }

  /** What a leaf shows is there, and stays there while this transaction lasts. */
  private boolean isStored(Attachment attachment) {
    return Awaiting.await(contents.get(attachment.content())).isPresent();
  }

  private Optional<Attachment> find(Edit edit, EditedAttachment.Stub stub) {
    if (!(edit instanceof ReplicatedEdit replicated)) {
      return known.stream().flatMap(it -> named(it, stub)).findFirst();
    }
    Optional<Md5> md5 = stub.md5();
    return known.stream()
        .filter(it -> md5.isPresent() || replicated.path().isAncestor(it.leaf()))
        .flatMap(it -> named(it, stub))
        .filter(it -> md5.isEmpty() || md5.get().equals(it.md5()))
        .findFirst();
  }

  private Optional<Attachment> find(EditedAttachment.Known named) {
    CompletableFuture<Optional<StoredContent>> reading = contents.get(named.content());
    return reading == null ? Optional.empty() : Awaiting.await(reading).flatMap(named::of);
  }

  private static Stream<Attachment> named(Known leaf, EditedAttachment.Stub stub) {
    return Awaiting.await(leaf.attachments()).named(stub.name()).stream()
        .filter(it -> stub.position().isEmpty() || stub.position().get() == it.position());
  }
}
