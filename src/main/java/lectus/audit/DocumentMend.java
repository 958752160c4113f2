package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.UnusedSubspace;
import lectus.changes.log.ChangesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ValidatorsSubspace;
import lectus.document.DocumentsSubspace;
import lectus.document.list.AllDocsSubspace;
import lectus.document.write.DocumentUpdate;
import lectus.document.write.UpdateWriter;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * The repair of one document. Edit branches that can be read, and whose bodies and attachments are
 * whole, stay; the others go, so that a replicator finds them missing and brings them again.
 * Everything that depends on the branches is written anew, as by an edit.
 *
 * @param kept the branches that stay, with the sizes of their bodies as they are
 */
record DocumentMend(StoredDocument document, List<EditBranch> kept, List<EditBranch> removed) {
  /** Documents with more branches are not searched for leaves that are ancestors of others. */
  private static final int MAX_COMPARED = 1_000;

  static DocumentMend of(ReadTransaction tx, DatabaseHandle db, StoredDocument document) {
    ContentsSubspace contents = new ContentsSubspace(db.prefix());
    List<EditBranch> kept = new ArrayList<>();
    List<EditBranch> removed = new ArrayList<>();
    for (EditBranch branch : document.branches()) {
      StoredDocument.Leaf leaf = StoredDocument.Leaf.of(branch);
      Optional<BodySize> size = document.wholeBody(branch);
      boolean areThere =
          attachments(document, leaf).stream()
              .allMatch(it -> Awaiting.await(contents.get(tx, it)).isPresent());
      if (size.isPresent() && areThere && !isAncestor(document.branches(), branch)) {
        kept.add(
            new EditBranch(
                branch.leaf(), branch.deleted(), branch.ancestors(), size.get(), branch.winner()));
      } else {
        removed.add(branch);
      }
    }
    return new DocumentMend(document, kept, removed);
  }

  private static boolean isAncestor(List<EditBranch> branches, EditBranch branch) {
    return branches.size() <= MAX_COMPARED
        && branches.stream().anyMatch(other -> other.isAncestor(branch.leaf()));
  }

  private static Set<ContentId> attachments(StoredDocument document, StoredDocument.Leaf leaf) {
    return document.attachments().getOrDefault(leaf, AttachmentList.NONE).contents();
  }

  /** Says what {@link #write} does. */
  String sentence() {
    List<String> parts = new ArrayList<>();
    if (!document.unreadable().isEmpty()) {
      parts.add("the rows that cannot be read are removed");
    }
    if (!removed.isEmpty()) {
      String leaves =
          removed.stream().map(it -> it.leaf().toString()).collect(Collectors.joining(", "));
      parts.add("what is stored of the revisions " + leaves + " is removed");
    }
    parts.add(
        kept.isEmpty()
            ? "nothing is left of the document"
            : "what depends on its edit branches is written anew, and "
                + kept.get(0).leaf()
                + " wins");
    return String.join("; ", parts);
  }

  /** Call {@link Catalogue#currentForChanges} first. */
  void write(Transaction tx, Catalogue catalogue, DatabaseHandle db) {
    String id = document.id();
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    revisions.conflictWithEdits(tx, id);
    document.unreadable().forEach(row -> tx.clear(row.getKey()));
    removed.forEach(branch -> revisions.clear(tx, id, branch));
    clearBodies(tx, db);
    clearChanges(tx, db);
    AllDocsSubspace allDocs = new AllDocsSubspace(db);
    allDocs.clear(tx, id);
    allDocs.setDeleted(tx, id, false);
    if (!kept.isEmpty()) {
      UpdateWriter writer = new UpdateWriter(tx, db);
      BranchUpdate branches = BranchUpdate.of(List.of(), List.of(), kept);
      writer.write(new DocumentUpdate(id, branches, Map.of()));
      writer.finish();
    }
    writeReferences(tx, db);
    writeValidation(tx, catalogue, db);
    catalogue.noteUpdate(tx, db);
  }

  private void clearBodies(Transaction tx, DatabaseHandle db) {
    DocumentsSubspace documents = new DocumentsSubspace(db);
    Set<StoredDocument.Leaf> leaves =
        kept.stream().map(StoredDocument.Leaf::of).collect(Collectors.toSet());
    for (StoredDocument.Leaf leaf : document.bodies().keySet()) {
      if (!leaves.contains(leaf)) {
        documents.clear(tx, document.id(), leaf.deleted(), leaf.revision());
      }
    }
  }

  private void clearChanges(Transaction tx, DatabaseHandle db) {
    ChangesSubspace changes = new ChangesSubspace(db);
    for (EditBranch branch : document.branches()) {
      if (branch.isWinner()) {
        Sequence sequence = branch.winner().sequence();
        changes.clear(tx, db.topology().shardAt(document.id(), sequence), sequence);
      }
    }
  }

  private void writeReferences(Transaction tx, DatabaseHandle db) {
    ReferencesSubspace references = new ReferencesSubspace(db.prefix());
    ContentsSubspace contents = new ContentsSubspace(db.prefix());
    UnusedSubspace unused = new UnusedSubspace(db.prefix());
    long now = Awaiting.await(tx.getReadVersion());
    Set<StoredDocument.Leaf> leaves =
        kept.stream().map(StoredDocument.Leaf::of).collect(Collectors.toSet());
    for (StoredDocument.Leaf leaf : document.attachments().keySet()) {
      byte[] key = DocumentsSubspace.leaf(leaf.deleted(), leaf.revision());
      for (ContentId content : attachments(document, leaf)) {
        if (leaves.contains(leaf)) {
          references.put(tx, content, document.id(), key);
        } else {
          references.clear(tx, content, document.id(), key);
          if (Awaiting.await(contents.get(tx, content)).isPresent()) {
            unused.put(tx, content, now);
          }
        }
      }
    }
  }

  private void writeValidation(Transaction tx, Catalogue catalogue, DatabaseHandle db) {
    boolean validates =
        !kept.isEmpty()
            && !kept.get(0).deleted()
            && document.validation().leaves().contains(StoredDocument.Leaf.of(kept.get(0)));
    if (validates || document.validation().isListed()) {
      new ValidatorsSubspace(db.prefix()).set(tx, document.id(), validates);
      catalogue.moveVersion(tx, db);
    }
  }
}
