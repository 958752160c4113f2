package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Validator.Declaration;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Versionstamp;

/**
 * The design documents of one database whose live winner has a member {@code validate_doc_update}.
 *
 * <pre>
 * key    (prefix, VALIDATORS, doc id)
 * value  (format 1, revision, Incarnation, Versionstamp[, selector])
 * </pre>
 *
 * The versionstamp is that of the design document's last change, as in its winning edit branch. All
 * rows are part of the database's handle. So a transaction that writes a row also moves the version
 * key ({@link Catalogue#moveVersion}), and concurrent writes conflict with it and are retried. Rows
 * are written without conflict ranges: the design document's edit branches decide conflicts.
 */
public final class ValidatorsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A row of the validators");

  private final byte[] prefix;

  public ValidatorsSubspace(byte[] databasePrefix) {
    this.prefix = DatabaseSubspace.VALIDATORS.key(databasePrefix).toBytes();
  }

  /** Reads all of them, in the order of their ids. */
  CompletableFuture<List<Validator>> all(ReadTransaction tx) {
    return tx.snapshot()
        .getRange(prefix, new TupleWriter(prefix).octet(0xff).toBytes())
        .asList()
        .thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  public CompletableFuture<Boolean> contains(ReadTransaction tx, String docId) {
    return tx.snapshot().get(key(docId)).thenApply(value -> value != null);
  }

  public Validator decode(KeyValue row) {
    String id = new TupleReader(row.getKey(), prefix.length).only(TupleReader::string);
    TupleReader value = FORMAT.reader(row.getValue());
    String revision = value.string();
    Sequence changedAt = Sequence.readFrom(value);
    Optional<Declaration> declaration =
        value.hasNext() ? Optional.of(new Declaration(value.bytes())) : Optional.empty();
    value.end();
    return new Validator(id, revision, changedAt, declaration);
  }

  /**
   * Lists a design document that the transaction writes.
   *
   * @param number of the document in the transaction
   */
  public void add(
      Transaction tx,
      int incarnation,
      String docId,
      String revision,
      Optional<Declaration> declaration,
      int number) {
    TupleWriter value = new TupleWriter(128).integer(FORMAT.number()).string(revision);
    value.integer(incarnation);
    int stampOffset = Versionstamp.append(value, number);
    declaration.ifPresent(it -> value.bytes(it.json()));
    tx.options().setNextWriteNoWriteConflictRange();
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_VALUE,
        key(docId),
        Versionstamp.template(value.toBytes(), stampOffset));
  }

  /** Lists a design document that has its sequence already. */
  public void addAt(
      Transaction tx,
      Sequence sequence,
      String docId,
      String revision,
      Optional<Declaration> declaration) {
    TupleWriter value = new TupleWriter(128).integer(FORMAT.number()).string(revision);
    sequence.writeTo(value);
    declaration.ifPresent(it -> value.bytes(it.json()));
    tx.options().setNextWriteNoWriteConflictRange();
    tx.set(key(docId), value.toBytes());
  }

  public void remove(Transaction tx, String docId) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(key(docId));
  }

  private byte[] key(String docId) {
    return new TupleWriter(prefix).string(docId).toBytes();
  }
}
