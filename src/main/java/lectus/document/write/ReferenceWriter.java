package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.UnusedSubspace;
import lectus.database.DatabaseHandle;
import lectus.document.body.DocumentsSubspace;
import lectus.revision.EditBranch;
import lectus.store.Awaiting;

/**
 * Writes which leaves show which contents. What a replaced leaf showed is read from its metadata,
 * if its branch says that it showed anything.
 */
final class ReferenceWriter {
  /** Keys of a reference in the transaction: the mutation and its conflict range. */
  private static final int KEYS = 3;

  /** A reference and a row of the unused contents, without their keys' variable parts. */
  private static final int ROW_BYTES =
      2 * (TransactionBudget.MUTATION_BYTES + TransactionBudget.CONFLICT_RANGE_BYTES) + 64;

  private final Transaction tx;
  private final DocumentsSubspace documents;
  private final ReferencesSubspace references;
  private final UnusedSubspace unused;

  ReferenceWriter(Transaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.documents = new DocumentsSubspace(db);
    this.references = new ReferencesSubspace(db.prefix());
    this.unused = new UnusedSubspace(db.prefix());
  }

  /** A leaf that is replaced, and its attachments, which are being read. */
  private record Lost(
      DocumentUpdate update, EditBranch branch, CompletableFuture<AttachmentList> attachments) {}

  /** Returns an upper bound of what a written or cleared leaf adds to the transaction, in bytes. */
  long weight(String docId, EditBranch branch) {
    if (!branch.body().hasAttachments()) {
      return 0;
    }
    long keyBytes =
        references.overhead()
            + DocumentsSubspace.keyOverhead(docId, branch.leaf().hash().bytes().length);
    // The contents that a leaf loses have rows of their own, whose keys are shorter.
    return branch.body().attachments() * (2 * KEYS * keyBytes + ROW_BYTES);
  }

  /** Writes the references of new leaves and clears those of replaced ones, before their bodies. */
  void write(List<DocumentUpdate> updates) {
    List<Lost> lost = new ArrayList<>();
    updates.forEach(update -> readLost(update, lost));
    lost.forEach(this::clear);
    updates.forEach(this::put);
  }

  private void readLost(DocumentUpdate update, List<Lost> lost) {
    for (EditBranch branch : update.branches().cleared()) {
      if (branch.body().hasAttachments()) {
        lost.add(
            new Lost(
                update,
                branch,
                documents.attachments(tx, update.id(), branch.deleted(), branch.leaf())));
      }
    }
  }

  private void clear(Lost lost) {
    EditBranch branch = lost.branch();
    byte[] leaf = DocumentsSubspace.leaf(branch.deleted(), branch.leaf());
    Set<ContentId> kept = shown(lost.update());
    for (ContentId content : Awaiting.await(lost.attachments()).contents()) {
      references.clear(tx, content, lost.update().id(), leaf);
      if (!kept.contains(content)) {
        unused.put(tx, content, Awaiting.await(tx.getReadVersion()));
      }
    }
  }

  private static Set<ContentId> shown(DocumentUpdate update) {
    Set<ContentId> shown = new HashSet<>();
    for (EditBranch branch : update.branches().written()) {
      LeafContent content = update.bodies().get(branch.leaf());
      if (content != null) {
        shown.addAll(content.attachments().contents());
      }
    }
    return shown;
  }

  private void put(DocumentUpdate update) {
    for (EditBranch branch : update.branches().written()) {
      LeafContent content = update.bodies().get(branch.leaf());
      if (content != null && !content.attachments().isEmpty()) {
        byte[] leaf = DocumentsSubspace.leaf(branch.deleted(), branch.leaf());
        for (ContentId id : content.attachments().contents()) {
          references.put(tx, id, update.id(), leaf);
        }
      }
    }
  }
}
