package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.List;
import lectus.derived.Derived;
import lectus.derived.DerivedRow;
import lectus.json.JsonBuffer;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;

/**
 * The documents that one index or stored feed could not take.
 *
 * <pre>
 * key    (prefix, DERIVED_ROWS, number, 0, doc id)
 * value  (format 1, reason)
 * </pre>
 *
 * Beside them, below (prefix, DERIVED_ROWS, number, part), lie the rows that it has of documents.
 */
public final class RefusedSubspace {
  /** The part of the entries. */
  public static final int ENTRIES = 1;

  /** The part that says where documents have left. */
  public static final int REMOVALS = 2;

  private static final StoredFormat FORMAT = new StoredFormat(1, "A document that was refused");
  private static final int REFUSED = 0;

  /** Refused documents that are named to clients. */
  private static final int MAX_NAMED = 20;

  private final byte[] prefix;

  public RefusedSubspace(DatabaseHandle db, Derived derived) {
    this.prefix = part(db, derived, REFUSED).toBytes();
  }

  /** Begins the keys of a part. */
  public static TupleWriter part(DatabaseHandle db, Derived derived, int part) {
    return rows(db, derived).integer(part);
  }

  private static TupleWriter rows(DatabaseHandle db, Derived derived) {
    return DatabaseSubspace.DERIVED_ROWS.key(db.prefix()).integer(derived.number());
  }

  /** Returns the range of all rows of all parts. */
  public static Range rowsOf(DatabaseHandle db, Derived derived) {
    return Range.startsWith(rows(db, derived).toBytes());
  }

  /** Clears all rows. No transaction can still bring one if the version key moves with it. */
  public static void clearRows(Transaction tx, DatabaseHandle db, Derived derived) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(rowsOf(db, derived));
  }

  public record Refused(String docId, String reason) {}

  public Range range() {
    return Range.startsWith(prefix);
  }

  public Refused decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), prefix.length);
    return new Refused(
        key.only(TupleReader::string), FORMAT.reader(row.getValue()).only(TupleReader::string));
  }

  public DerivedRow refusal(String docId, String reason) {
    return DerivedRow.set(
        key(docId), new TupleWriter(64).integer(FORMAT.number()).string(reason).toBytes());
  }

  public DerivedRow clearing(String docId) {
    return DerivedRow.cleared(key(docId));
  }

  private byte[] key(String docId) {
    return new TupleWriter(prefix).string(docId).toBytes();
  }

  /** Appends a member of an object that names some of them, if there are any. */
  public void appendTo(ReadTransaction tx, JsonBuffer out) {
    List<Refused> refused =
        Awaiting.await(tx.getRange(range(), MAX_NAMED).asList()).stream()
            .map(this::decode)
            .toList();
    if (refused.isEmpty()) {
      return;
    }
    out.ascii(",\"refused\":[")
        .each(
            refused,
            it -> {
              out.ascii("{\"id\":").string(it.docId());
              out.ascii(",\"reason\":").string(it.reason()).octet('}');
            })
        .octet(']');
  }
}
