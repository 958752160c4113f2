package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.body.BodyKey;
import lectus.document.body.DocumentsSubspace;
import lectus.document.body.StoredBody;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** Reads bodies of one database's documents (RFC 004, CRUD Operations). */
final class Bodies {
  private static final int USUAL_LEAVES = 32;

  private final DocumentsSubspace documents;

  Bodies(DatabaseHandle db) {
    this.documents = new DocumentsSubspace(db);
  }

  /** A revision and its body. */
  record Found(RevisionId revision, StoredBody body) {}

  /**
   * The live winner by RFC 004's second option: the document's range is streamed in reverse up to
   * the metadata of the revision that it ends with. One range read whose chunks begin small, since
   * other revisions of the document may lie before it. Null if no live revision is there.
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

  CompletableFuture<StoredBody> of(ReadTransaction tx, String id, EditBranch leaf) {
    return of(tx, id, leaf.deleted(), leaf.leaf());
  }

  /** The body of a leaf whose revision is known; nothing is stored of a plain tombstone. */
  CompletableFuture<StoredBody> of(
      ReadTransaction tx, String id, boolean deleted, RevisionId leaf) {
    return StoredBody.read(tx, prefix(id, deleted, leaf));
  }

  /** What a leaf's body has in some ranges, each read on its own. */
  CompletableFuture<StoredBody> fields(
      ReadTransaction tx, String id, boolean deleted, RevisionId leaf, FieldRanges ranges) {
    byte[] prefix = prefix(id, deleted, leaf);
    List<CompletableFuture<StoredBody>> started = new ArrayList<>(ranges.paths().size());
    for (byte[] path : ranges.paths()) {
      started.add(StoredBody.read(tx, DocumentKeys.join(prefix, path)));
    }
    return CompletableFuture.allOf(started.toArray(CompletableFuture[]::new))
        .thenApply(
            all ->
                StoredBody.inOrder(
                    started.stream().map(CompletableFuture::join).toList(), prefix.length));
  }

  /** What all keys of a revision begin with. */
  byte[] prefix(String id, boolean deleted, RevisionId leaf) {
    return documents.revision(id, deleted, leaf);
  }
}
