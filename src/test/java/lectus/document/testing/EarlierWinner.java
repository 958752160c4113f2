package lectus.document.testing;

import com.apple.foundationdb.KeyValue;
import java.util.List;
import java.util.function.UnaryOperator;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.revision.RevisionsSubspace;
import lectus.revision.StoredBranch;
import lectus.store.Awaiting;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/** The row of a document's winner, rewritten beneath the writer. */
public final class EarlierWinner {
  private EarlierWinner() {}

  /** Gives the row the form in which it lists no other leaves, as earlier versions wrote it. */
  public static void write(TestDatabase db, String id) {
    replace(db, id, EarlierWinner::inFormatOne);
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
    DatabaseHandle handle = db.catalogue.open(db.name);
    db.transactions.run(
        tx -> {
          List<StoredBranch> rows = Awaiting.await(new RevisionsSubspace(handle).stored(tx, id));
          KeyValue winner = rows.get(rows.size() - 1).row();
          tx.set(winner.getKey(), change.apply(winner.getValue()));
          return null;
        });
  }
}
