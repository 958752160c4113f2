package lectus.document;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.json.ExplodedBody;
import lectus.json.Leaf;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The local documents of one database. Ids are kept with their {@code _local/}.
 *
 * <pre>
 * key    (prefix, LOCAL_DOCS, 0, doc id)
 * value  (format 1, number of the revision: 1 for "0-1")
 * key    (prefix, LOCAL_DOCS, 1, doc id, path…)
 * value  a leaf value of {@link ExplodedBody}, without a format of its own
 * </pre>
 */
public final class LocalDocsSubspace implements ListSource {
  private static final int FORMAT = 1;
  private static final int ROWS = 0;
  private static final int BODIES = 1;

  /** No row's value is longer. */
  private static final int VALUE_BYTES = 16;

  private final byte[] rows;
  private final byte[] bodies;

  public LocalDocsSubspace(DatabaseHandle db) {
    this.rows = DatabaseSubspace.LOCAL_DOCS.key(db.prefix()).integer(ROWS).toBytes();
    this.bodies = DatabaseSubspace.LOCAL_DOCS.key(db.prefix()).integer(BODIES).toBytes();
  }

  @Override
  public byte[] begin() {
    return rows.clone();
  }

  @Override
  public byte[] end() {
    return DocumentsSubspace.endOf(rows);
  }

  @Override
  public byte[] key(String id) {
    return TupleWriter.startingWith(rows).string(id).toBytes();
  }

  @Override
  public byte[] keyAfter(String id) {
    byte[] key = key(id);
    return Arrays.copyOf(key, key.length + 1);
  }

  @Override
  public AllDocsRow decode(KeyValue row) {
    return decode(new TupleReader(row.getKey(), rows.length).string(), row.getValue());
  }

  @Override
  public CompletableFuture<Optional<AllDocsRow>> row(ReadTransaction tx, String id) {
    return tx.get(key(id)).thenApply(value -> Optional.ofNullable(value).map(it -> decode(id, it)));
  }

  /** What all keys of bodies begin with. */
  public byte[] bodies() {
    return bodies.clone();
  }

  @Override
  public byte[] bodies(String id) {
    return TupleWriter.startingWith(bodies).string(id).toBytes();
  }

  @Override
  public byte[] body(AllDocsRow row) {
    return bodies(row.id());
  }

  /** The revision {@code 0-number}. */
  static RevisionId revision(long number) {
    byte[] digits = Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    return new RevisionId(0, new RevisionHash(digits, true));
  }

  /** An upper bound of what {@link #write} adds to a transaction, in bytes. */
  long weight(LocalEdit edit) {
    long keyBytes = bodies(edit.id()).length + 1L;
    long mutations = edit.body().leaves().size() + 2L;
    return edit.body().storedBytes()
        + mutations * (keyBytes + TransactionBudget.MUTATION_BYTES)
        + VALUE_BYTES
        + 4 * keyBytes
        + TransactionBudget.CONFLICT_RANGE_BYTES;
  }

  /** Replaces the document, or removes it, whatever is there. */
  void write(Transaction tx, LocalEdit edit) {
    clearBody(tx, edit.id());
    if (edit.deleted()) {
      tx.clear(key(edit.id()));
    } else {
      put(tx, edit);
    }
  }

  /** The row alone gets a write conflict range: none reads bodies but with their row. */
  private void put(Transaction tx, LocalEdit edit) {
    byte[] row = new TupleWriter(VALUE_BYTES).integer(FORMAT).integer(edit.number()).toBytes();
    tx.set(key(edit.id()), row);
    TupleWriter key = TupleWriter.startingWith(bodies).string(edit.id());
    int idBytes = key.length();
    for (Leaf leaf : edit.body().leaves()) {
      tx.options().setNextWriteNoWriteConflictRange();
      tx.set(key.truncate(idBytes).raw(leaf.path()).toBytes(), leaf.value());
    }
  }

  void clear(Transaction tx, String id) {
    clearBody(tx, id);
    tx.clear(key(id));
  }

  private void clearBody(Transaction tx, String id) {
    byte[] begin = bodies(id);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(begin, DocumentsSubspace.endOf(begin));
  }

  private static AllDocsRow decode(String id, byte[] bytes) {
    TupleReader value = new TupleReader(bytes, 0);
    int format = value.smallInteger();
    if (format != FORMAT) {
      throw new MalformedTupleException("Local document of an unknown format: " + format);
    }
    return new AllDocsRow(id, revision(value.integer()), 1);
  }
}
