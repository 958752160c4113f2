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
 * The first of them is a part of the database's handle, so whoever writes a row moves the version
 * key ({@link Catalogue#moveVersion}): a write that overlaps with it loses and looks again. Rows
 * themselves are written without conflict ranges, because the edit branches of the design document
 * decide conflicts.
 */
public final class ValidatorsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A row of the validators");

  private final byte[] prefix;

  public ValidatorsSubspace(byte[] databasePrefix) {
    this.prefix = DatabaseSubspace.VALIDATORS.key(databasePrefix).toBytes();
  }

  /** The design document that comes first; empty if none asks for validation. */
  public CompletableFuture<Optional<String>> first(ReadTransaction tx) {
    return tx.snapshot()
        .getRange(prefix, TupleWriter.startingWith(prefix).octet(0xff).toBytes(), 1)
        .asList()
        .thenApply(rows -> rows.stream().findFirst().map(this::decode));
  }

  /** Whether the design document is among them. */
  public CompletableFuture<Boolean> contains(ReadTransaction tx, String docId) {
    return tx.snapshot().get(key(docId)).thenApply(value -> value != null);
  }

  /** The design document that a row names. */
  public String decode(KeyValue row) {
    FORMAT.reader(row.getValue());
    return new TupleReader(row.getKey(), prefix.length).string();
  }

  /** Adds the design document, or takes it out. */
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
