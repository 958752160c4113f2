package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The design documents of one database whose live winner has a member {@code validate_doc_update}.
 *
 * <pre>
 * key    (prefix, VALIDATORS, doc id)
 * value  (format 1)
 * </pre>
 *
 * The first of them is part of the database's handle. So a transaction that writes a row also moves
 * the version key ({@link Catalogue#moveVersion}), and concurrent writes conflict with it and are
 * retried. Rows are written without conflict ranges: the design document's edit branches decide
 * conflicts.
 */
public final class ValidatorsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A row of the validators");

  private final byte[] prefix;

  public ValidatorsSubspace(byte[] databasePrefix) {
    this.prefix = DatabaseSubspace.VALIDATORS.key(databasePrefix).toBytes();
  }

  /** Returns the first of these design documents; empty if none asks for validation. */
  public CompletableFuture<Optional<String>> first(ReadTransaction tx) {
    return tx.snapshot()
        .getRange(prefix, TupleWriter.startingWith(prefix).octet(0xff).toBytes(), 1)
        .asList()
        .thenApply(rows -> rows.stream().findFirst().map(this::decode));
  }

  /** Whether the design document is listed. */
  public CompletableFuture<Boolean> contains(ReadTransaction tx, String docId) {
    return tx.snapshot().get(key(docId)).thenApply(value -> value != null);
  }

  /** Returns the design document that a row names. */
  public String decode(KeyValue row) {
    FORMAT.only(row.getValue());
    return new TupleReader(row.getKey(), prefix.length).only(TupleReader::string);
  }

  /** Adds or removes the design document. */
  public void set(Transaction tx, String docId, boolean validates) {
    tx.options().setNextWriteNoWriteConflictRange();
    if (validates) {
      tx.set(key(docId), new TupleWriter(4).integer(FORMAT.number()).toBytes());
    } else {
      tx.clear(key(docId));
    }
  }

  private byte[] key(String docId) {
    return TupleWriter.startingWith(prefix).string(docId).toBytes();
  }
}
