package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ByteSource;
import lectus.attachment.GzipReader.Unzipped;
import lectus.attachment.StoredBytes;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.document.DatabaseReads;
import lectus.document.DocumentId;
import lectus.document.DocumentsSubspace;
import lectus.error.LectusException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Reads attachments of single documents, and their bytes. */
public record AttachmentReader(Catalogue catalogue, TransactionRunner transactions) {
  private static final String MISSING = "missing";

  /**
   * Returns an attachment of the live winner, or of a leaf.
   *
   * @param latest whether the leaf below the revision will do; of several the one that wins
   * @throws LectusException {@code not_found}: the document, the leaf or the attachment
   */
  public Attachment find(
      DatabaseRequest asked, String id, Optional<RevisionId> leaf, boolean latest, String name) {
    return all(asked, id, leaf, latest)
        .named(name)
        .orElseThrow(() -> LectusException.notFound("Document is missing attachment"));
  }

  /**
   * Returns the attachments of the live winner, or of a leaf.
   *
   * @throws LectusException {@code not_found}: the document or the leaf
   */
  public AttachmentList all(DatabaseRequest asked, String id, Optional<RevisionId> leaf) {
    return all(asked, id, leaf, false);
  }

  private AttachmentList all(
      DatabaseRequest asked, String id, Optional<RevisionId> leaf, boolean latest) {
    return transactions.read(
        tx -> {
          DatabaseHandle db = asked.current(tx, catalogue);
          DocumentId.checkIn(db, id);
          EditBranch branch =
              leaf.isPresent() ? leaf(tx, db, id, leaf.get(), latest) : winner(tx, db, id);
          return branch.body().hasAttachments()
              ? Awaiting.await(
                  new DocumentsSubspace(db).attachments(tx, id, branch.deleted(), branch.leaf()))
              : AttachmentList.NONE;
        });
  }

  /** Returns the bytes as they are stored, or a part of them. */
  public ByteSource stored(DatabaseRequest asked, Attachment attachment, long from, long end) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    return new StoredBytes(reads::read, attachment.content(), from, end);
  }

  /** Returns the bytes as they were before they were compressed. */
  public ByteSource plain(DatabaseRequest asked, Attachment attachment) {
    ByteSource stored = stored(asked, attachment, 0, attachment.storedLength());
    return attachment.gzipped() ? new Unzipped(stored) : stored;
  }

  private static EditBranch winner(ReadTransaction tx, DatabaseHandle db, String id) {
    EditBranch winner =
        Awaiting.await(new RevisionsSubspace(db).winner(tx, id))
            .orElseThrow(() -> LectusException.notFound(MISSING));
    if (winner.deleted()) {
      throw LectusException.notFound("deleted");
    }
    return winner;
  }

  private static EditBranch leaf(
      ReadTransaction tx, DatabaseHandle db, String id, RevisionId leaf, boolean latest) {
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    if (latest) {
      return Awaiting.await(revisions.branches(tx, id)).stream()
          .filter(branch -> branch.contains(leaf))
          .findFirst()
          .orElseThrow(() -> LectusException.notFound(MISSING));
    }
    return Awaiting.await(revisions.branch(tx, id, false, leaf))
        .or(() -> Awaiting.await(revisions.branch(tx, id, true, leaf)))
        .orElseThrow(() -> LectusException.notFound(MISSING));
  }
}
