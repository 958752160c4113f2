package lectus.database.testing;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Turns a database with one generation of shards into one from before shards: its changes lie in
 * the deprecated subspace, and nothing describes shards (RFC 018, Backwards Compatibility). No
 * server may know the database yet.
 */
public final class BeforeShards {
  private static final int ENTRIES_COUNTER = 4;

  private BeforeShards() {}

  public static void lay(TransactionRunner transactions, DatabaseHandle db) {
    transactions.run(
        tx -> {
          int shardStart = DatabaseSubspace.CHANGES.key(db.prefix()).length();
          Range changes = Range.startsWith(DatabaseSubspace.CHANGES.key(db.prefix()).toBytes());
          for (KeyValue row : Awaiting.await(tx.getRange(changes).asList())) {
            TupleReader key = new TupleReader(row.getKey(), shardStart);
            key.string();
            TupleWriter unsharded = DatabaseSubspace.CHANGES_DEPRECATED.key(db.prefix());
            Sequence.readFrom(key).writeTo(unsharded);
            tx.set(unsharded.toBytes(), row.getValue());
          }
          tx.clear(changes);
          tx.clear(Range.startsWith(shardMaps(db).toBytes()));
          tx.clear(
              Range.startsWith(
                  DatabaseSubspace.STATISTICS.key(db.prefix()).integer(ENTRIES_COUNTER).toBytes()));
          return null;
        });
  }

  /** Adds RFC 018's entry {@code {…, 0} = {deprecated}}. */
  public static void layShardMap(TransactionRunner transactions, DatabaseHandle db) {
    transactions.run(
        tx -> {
          byte[] value = new TupleWriter(8).integer(1).integer(0).bool(false).toBytes();
          tx.set(shardMaps(db).integer(0).toBytes(), value);
          return null;
        });
  }

  /** Counts the entries in the deprecated subspace. */
  public static int entries(Transaction tx, DatabaseHandle db) {
    byte[] subspace = DatabaseSubspace.CHANGES_DEPRECATED.key(db.prefix()).toBytes();
    return Awaiting.await(tx.getRange(Range.startsWith(subspace)).asList()).size();
  }

  private static TupleWriter shardMaps(DatabaseHandle db) {
    return DatabaseSubspace.CONFIG.key(db.prefix()).string("changes_shards");
  }
}
