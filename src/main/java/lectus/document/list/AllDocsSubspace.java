package lectus.document.list;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The index of one database's live documents, in id order.
 *
 * <pre>
 * key    (prefix, ALL_DOCS, doc id)
 * value  (format 1, position, hash, branch count)
 * </pre>
 *
 * Written without conflict ranges: the revisions subspace decides conflicts.
 */
public final class AllDocsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A row of the all-docs index");

  /** Above every type code with which the tuple encoding of a string begins. */
  private static final int AFTER_IDS = 0xff;

  private final byte[] prefix;

  public AllDocsSubspace(DatabaseHandle db) {
    this.prefix = DatabaseSubspace.ALL_DOCS.key(db.prefix()).toBytes();
  }

  /** Returns the begin of a range over all ids: the first possible key. */
  public byte[] begin() {
    return prefix.clone();
  }

  /** Returns the end of a range over all ids. */
  public byte[] end() {
    return TupleWriter.startingWith(prefix).octet(AFTER_IDS).toBytes();
  }

  /** Returns the key of an id, which is also the begin of a range from that id. */
  public byte[] key(String docId) {
    return TupleWriter.startingWith(prefix).string(docId).toBytes();
  }

  /** Returns the row of an id; empty if the document is deleted or was never written. */
  public CompletableFuture<Optional<AllDocsRow>> get(ReadTransaction tx, String docId) {
    return tx.get(key(docId))
        .thenApply(value -> Optional.ofNullable(value).map(it -> decode(docId, it)));
  }

  /** Decodes a row of a range read. */
  public AllDocsRow decode(KeyValue row) {
    String docId = new TupleReader(row.getKey(), prefix.length).only(TupleReader::string);
    return decode(docId, row.getValue());
  }

  public void put(Transaction tx, AllDocsRow row) {
    TupleWriter value =
        new TupleWriter(32).integer(FORMAT.number()).integer(row.winner().position());
    row.winner().hash().writeTo(value);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.set(key(row.id()), value.integer(row.branchCount()).toBytes());
  }

  public void clear(Transaction tx, String docId) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(key(docId));
  }

  private static AllDocsRow decode(String docId, byte[] bytes) {
    TupleReader value = FORMAT.reader(bytes);
    RevisionId winner = new RevisionId(value.integer(), RevisionHash.readFrom(value));
    return new AllDocsRow(docId, winner, value.only(TupleReader::smallInteger));
  }
}
