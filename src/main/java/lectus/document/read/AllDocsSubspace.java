package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * The index of one database's live documents, in id order; and beside it, which ones are deleted.
 *
 * <pre>
 * key    (prefix, ALL_DOCS, doc id)
 * value  (format 1, position, hash, branch count)
 * key    (prefix, DELETED_DOCS, doc id)
 * value  (format 1)
 * </pre>
 *
 * So two keys say that a document is new. The store answers by its filters that a key is absent,
 * while a range of edit branches in which there is nothing has to be looked for in each of its
 * files.
 *
 * <p>Written without conflict ranges: the revisions subspace decides conflicts.
 */
public final class AllDocsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A row of the all-docs index");

  /** Above every type code with which the tuple encoding of a string begins. */
  private static final int AFTER_IDS = 0xff;

  private static final StoredFormat DELETED = new StoredFormat(1, "A row of the deleted documents");
  private static final byte[] DELETED_ROW = new TupleWriter(4).integer(1).toBytes();

  private final byte[] prefix;
  private final byte[] deletedPrefix;

  public AllDocsSubspace(DatabaseHandle db) {
    this.prefix = DatabaseSubspace.ALL_DOCS.key(db.prefix()).toBytes();
    this.deletedPrefix = DatabaseSubspace.DELETED_DOCS.key(db.prefix()).toBytes();
  }

  /** What there is of a document. */
  public enum Presence {
    NONE,
    LIVE,
    DELETED
  }

  /** Returns the begin of a range over all ids: the first possible key. */
  public byte[] begin() {
    return prefix.clone();
  }

  /** Returns the end of a range over all ids. */
  public byte[] end() {
    return new TupleWriter(prefix).octet(AFTER_IDS).toBytes();
  }

  /** Returns the key of an id, which is also the begin of a range from that id. */
  public byte[] key(String docId) {
    return new TupleWriter(prefix).string(docId).toBytes();
  }

  /** Returns the row of an id; empty if the document is deleted or was never written. */
  public CompletableFuture<Optional<AllDocsRow>> get(ReadTransaction tx, String docId) {
    return tx.get(key(docId))
        .thenApply(value -> Optional.ofNullable(value).map(it -> decode(docId, it)));
  }

  /** Returns what there is of a document, without conflicts, in one round trip. */
  public CompletableFuture<Presence> presence(ReadTransaction tx, String docId) {
    CompletableFuture<byte[]> live = tx.snapshot().get(key(docId));
    return tx.snapshot()
        .get(deletedKey(docId))
        .thenCombine(
            live,
            (deleted, row) ->
                row != null ? Presence.LIVE : deleted != null ? Presence.DELETED : Presence.NONE);
  }

  /**
   * Whether there is nothing of a document, if the store answers that at once; false where the
   * answer would take a round trip. Without conflicts.
   */
  public boolean isKnownNew(ReadTransaction tx, String docId) {
    return TransactionRunner.isAnsweredAtOnce(tx)
        && Awaiting.await(tx.snapshot().get(key(docId))) == null
        && Awaiting.await(tx.snapshot().get(deletedKey(docId))) == null;
  }

  /** Decodes a row of a range read. */
  public AllDocsRow decode(KeyValue row) {
    String docId = new TupleReader(row.getKey(), prefix.length).only(TupleReader::string);
    return decode(docId, row.getValue());
  }

  /** Puts the row of a live document; the arguments are those of {@link AllDocsRow}. */
  public void put(Transaction tx, String docId, RevisionId winner, int branchCount) {
    TupleWriter value = new TupleWriter(32).integer(FORMAT.number()).integer(winner.position());
    winner.hash().writeTo(value);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.set(key(docId), value.integer(branchCount).toBytes());
  }

  public void clear(Transaction tx, String docId) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(key(docId));
  }

  /** Says whether a document is deleted. */
  public void setDeleted(Transaction tx, String docId, boolean deleted) {
    tx.options().setNextWriteNoWriteConflictRange();
    if (deleted) {
      tx.set(deletedKey(docId), DELETED_ROW);
    } else {
      tx.clear(deletedKey(docId));
    }
  }

  /** Decodes the row of a deleted document. */
  public String decodeDeleted(KeyValue row) {
    DELETED.only(row.getValue());
    return new TupleReader(row.getKey(), deletedPrefix.length).only(TupleReader::string);
  }

  private byte[] deletedKey(String docId) {
    return new TupleWriter(deletedPrefix).string(docId).toBytes();
  }

  private static AllDocsRow decode(String docId, byte[] bytes) {
    TupleReader value = FORMAT.reader(bytes);
    RevisionId winner = new RevisionId(value.integer(), RevisionHash.readFrom(value));
    return new AllDocsRow(docId, winner, value.only(TupleReader::smallInteger));
  }

  /**
   * A live document, as stored in the all-docs index.
   *
   * @param winner its winning revision
   * @param branchCount number of the document's edit branches, deleted ones included; if 1, there
   *     are no conflicts to read
   */
  public record AllDocsRow(String id, RevisionId winner, int branchCount) {}
}
