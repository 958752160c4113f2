package lectus.document.testing;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.function.UnaryOperator;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;

/** The row of a document's winner, rewritten beneath the writer. */
public final class WinnerRow {
  private WinnerRow() {}

  /** Gives the row the form in which it lists no other leaves, as after very many branches. */
  public static void unlist(TestDatabase db, String id) {
    replace(db, id, WinnerRow::inFormatOne);
  }

  private static byte[] inFormatOne(byte[] value) {
    TupleReader row = new TupleReader(value, 0);
    if (row.smallInteger() == 1) {
      return value;
    }
    int sequence = row.position();
    Sequence.readFrom(row);
    row.integer();
    int others = row.position();
    row.bytes();
    return new TupleWriter(value.length)
        .integer(1)
        .raw(value, sequence, others - sequence)
        .raw(value, row.position(), value.length - row.position())
        .toBytes();
  }

  /** Flips a bit of the last leaf that the row lists. */
  public static void misremember(TestDatabase db, String id) {
    replace(
        db,
        id,
        value -> {
          TupleReader row = new TupleReader(value, 0);
          row.integer();
          Sequence.readFrom(row);
          row.integer();
          row.bytes();
          byte[] wrong = value.clone();
          wrong[row.position() - 2] ^= 0x10;
          return wrong;
        });
  }

  private static void replace(TestDatabase db, String id, UnaryOperator<byte[]> change) {
    byte[] prefix = db.catalogue.open(db.name).prefix();
    Range rows = Range.startsWith(DatabaseSubspace.REVISIONS.key(prefix).string(id).toBytes());
    db.transactions.run(
        tx -> {
          KeyValue winner = Awaiting.await(tx.getRange(rows, 1, true).asList()).get(0);
          tx.set(winner.getKey(), change.apply(winner.getValue()));
          return null;
        });
  }
}
