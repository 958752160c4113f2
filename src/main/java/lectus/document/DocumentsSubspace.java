package lectus.document;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.json.ExplodedBody;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;

/**
 * The bodies of the leaf revisions of one database's documents (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/004-document-storage.md">RFC
 * 004</a>).
 *
 * <pre>
 * key    (prefix, DOCUMENTS, doc id, not deleted, position, hash)
 * value  {@link RevisionMetadata}, with the leaves of a small body
 * key    (prefix, DOCUMENTS, doc id, not deleted, position, hash, path…)
 * value  a leaf value of {@link ExplodedBody}, without a format of its own
 * key    (prefix, DOCUMENTS, doc id, not deleted, position, hash, path…) ‖ 0x42 ‖ (number)
 * value  a further piece of the string at the path, if it is longer than a value may be
 * key    (prefix, DOCUMENTS, doc id, not deleted, position, hash) ‖ 0x43 ‖ (number)
 * value  a part of a large body's JSON: {@link TextChunks}
 * </pre>
 *
 * Every live leaf has a metadata key. A tombstone has one only if its deletion left members in it,
 * so a plain tombstone stores nothing here. The winning live revision sorts after all other
 * revisions of its document.
 *
 * <p>Written without conflict ranges: the revisions subspace decides conflicts.
 */
public final class DocumentsSubspace {
  /** Above every type code with which a path, or the tuple encoding of a boolean, begins. */
  private static final int AFTER = 0xff;

  /**
   * Maximum length of a key up to its path, without the id and the hash: prefix, subspace, the
   * deleted flag, position, type codes and terminators. In bytes.
   */
  private static final int MAX_KEY_BYTES_BESIDE_ID_AND_HASH = 32;

  private final byte[] prefix;
  private final BodyLayout layout;

  public DocumentsSubspace(DatabaseHandle db) {
    this.prefix = DatabaseSubspace.DOCUMENTS.key(db.prefix()).toBytes();
    this.layout = db.configuration().layout();
  }

  /** Returns the prefix of all keys of one document; it is also the begin of their range. */
  public byte[] document(String docId) {
    return writer(docId).toBytes();
  }

  /** Returns the prefix of all keys of one revision; it is also the key of its metadata. */
  public byte[] revision(String docId, boolean deleted, RevisionId revision) {
    return writer(docId, deleted, revision).toBytes();
  }

  /** Returns the end of the range of keys that begin with {@code documentOrRevision}. */
  public static byte[] endOf(byte[] documentOrRevision) {
    return new TupleWriter(documentOrRevision).octet(AFTER).toBytes();
  }

  /**
   * Decodes a key of a document.
   *
   * @param documentBytes length of what {@link #document} returned
   */
  public static BodyKey decodeKey(byte[] key, int documentBytes) {
    TupleReader reader = new TupleReader(key, documentBytes);
    boolean deleted = !reader.bool();
    RevisionId revision = new RevisionId(reader.integer(), RevisionHash.readFrom(reader));
    return new BodyKey(deleted, revision, reader.position());
  }

  /** Whether small bodies are stored in one row. */
  public boolean hasInlineBodies() {
    return layout == BodyLayout.INLINE;
  }

  /** Reads the attachments of a leaf; none if the leaf is not there. */
  public CompletableFuture<AttachmentList> attachments(
      ReadTransaction tx, String docId, boolean deleted, RevisionId revision) {
    return tx.get(revision(docId, deleted, revision))
        .thenApply(
            value ->
                value == null ? AttachmentList.NONE : RevisionMetadata.of(value).attachments());
  }

  /** Returns the elements of a key that name a leaf, encoded. */
  public static byte[] leaf(boolean deleted, RevisionId revision) {
    TupleWriter leaf = new TupleWriter(32).bool(!deleted).integer(revision.position());
    revision.hash().writeTo(leaf);
    return leaf.toBytes();
  }

  /** Returns the rows of a body of this database. */
  public BodyRows rows(
      String docId,
      boolean deleted,
      RevisionId revision,
      ExplodedBody body,
      AttachmentList attachments) {
    return new BodyRows(layout, writer(docId, deleted, revision).length(), body, attachments);
  }

  /**
   * Returns an upper bound of the length of a leaf's key before its path, in bytes.
   *
   * @param hashBytes length of the revision's hash, any byte of which may be a NUL
   */
  public static int keyOverhead(String docId, int hashBytes) {
    return MAX_KEY_BYTES_BESIDE_ID_AND_HASH + TupleWriter.lengthOf(docId) + 2 * hashBytes;
  }

  public void put(
      Transaction tx, String docId, boolean deleted, RevisionId revision, BodyRows rows) {
    rows.put(tx, writer(docId, deleted, revision));
  }

  public void clear(Transaction tx, String docId, boolean deleted, RevisionId revision) {
    byte[] begin = revision(docId, deleted, revision);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(begin, endOf(begin));
  }

  private TupleWriter writer(String docId) {
    return new TupleWriter(prefix).string(docId);
  }

  private TupleWriter writer(String docId, boolean deleted, RevisionId revision) {
    TupleWriter key = writer(docId).bool(!deleted).integer(revision.position());
    revision.hash().writeTo(key);
    return key;
  }

  /**
   * A decoded key of the documents subspace.
   *
   * @param deleted whether the revision is a tombstone
   * @param pathOffset offset in the key at which the leaf's path begins; the key's length for the
   *     revision's metadata
   */
  public record BodyKey(boolean deleted, RevisionId revision, int pathOffset) {}
}
