package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentsSubspace;
import lectus.document.DocumentsSubspace.BodyKey;
import lectus.document.RevisionMetadata;
import lectus.document.StoredBody;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.json.ChosenPaths;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Reads bodies of one database's documents (RFC 004, CRUD Operations). */
final class Bodies {
  private static final int USUAL_LEAVES = 32;

  final DocumentsSubspace documents;
  private final AllDocsSubspace allDocs;

  Bodies(DatabaseHandle db) {
    this.documents = new DocumentsSubspace(db);
    this.allDocs = new AllDocsSubspace(db);
  }

  /** A revision and its body. */
  record Found(RevisionId revision, StoredBody body) {}

  /**
   * Returns the live winner; null if there is no live revision. This is RFC 004's second option: it
   * streams the document's range in reverse, until the metadata of the last revision. The chunks of
   * this one range read begin small, since other revisions of the document may lie before it.
   */
  Found winner(ReadTransaction tx, String id) {
    byte[] begin = documents.document(id);
    byte[] end = DocumentsSubspace.endOf(begin);
    AsyncIterator<KeyValue> rows =
        tx.getRange(begin, end, ReadTransaction.ROW_LIMIT_UNLIMITED, true, StreamingMode.ITERATOR)
            .iterator();
    try {
      return rows.hasNext() ? winner(rows, begin.length) : null;
    } finally {
      rows.cancel();
    }
  }

  /**
   * Returns the live winner by two single keys; empty if there is none, if its body is more than
   * one row, or if the store is far away. Filters tell in which files of a store a key is not,
   * while a range has to be looked for in each.
   */
  Optional<Found> smallWinner(ReadTransaction tx, String id) {
    if (!documents.hasInlineBodies() || !TransactionRunner.isAnsweredAtOnce(tx)) {
      return Optional.empty();
    }
    return Awaiting.await(allDocs.get(tx, id))
        .map(AllDocsRow::winner)
        .flatMap(
            winner ->
                Awaiting.await(StoredBody.oneRow(tx, documents.revision(id, false, winner)))
                    .map(body -> new Found(winner, body)));
  }

  private static Found winner(AsyncIterator<KeyValue> descending, int documentBytes) {
    KeyValue row = descending.next();
    BodyKey highest = DocumentsSubspace.decodeKey(row.getKey(), documentBytes);
    if (highest.deleted()) {
      return null;
    }
    List<KeyValue> rows = new ArrayList<>(USUAL_LEAVES);
    rows.add(row);
    while (row.getKey().length > highest.pathOffset()) {
      row = descending.next();
      rows.add(row);
    }
    return new Found(highest.revision(), StoredBody.of(rows, highest.pathOffset(), true));
  }

  /** Returns the body of a leaf. A small one is read by its key. */
  CompletableFuture<StoredBody> of(ReadTransaction tx, String id, EditBranch leaf) {
    byte[] prefix = documents.revision(id, leaf.deleted(), leaf.leaf());
    boolean isSmall =
        documents.hasInlineBodies()
            && leaf.body().isStored()
            && leaf.body().stored() <= RevisionMetadata.MAX_INLINE_BYTES;
    return isSmall
        ? StoredBody.oneRow(tx, prefix)
            .thenCompose(
                row ->
                    row.map(CompletableFuture::completedFuture)
                        .orElseGet(() -> StoredBody.read(tx, prefix)))
        : StoredBody.read(tx, prefix);
  }

  /** Returns the body of a leaf whose revision is known; a plain tombstone stores none. */
  CompletableFuture<StoredBody> of(
      ReadTransaction tx, String id, boolean deleted, RevisionId leaf) {
    return StoredBody.read(tx, documents.revision(id, deleted, leaf));
  }

  /** Returns some leaves of the body of a branch's leaf, and the list of attachments. */
  CompletableFuture<StoredBody> fields(
      ReadTransaction tx, String id, boolean deleted, RevisionId leaf, ChosenPaths fields) {
    return StoredBody.read(tx, documents.revision(id, deleted, leaf), fields);
  }
}
