package lectus.store;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleWriter;

/**
 * The lowest format that any database of a store has, so that a start need not look at each of
 * them.
 *
 * <pre>
 * key          value
 * (root, 5)    (format 1, number of the databases' format); 0 if missing
 * </pre>
 */
public final class ReachedFormat {
  private static final StoredFormat FORMAT = new StoredFormat(1, "The store's format");

  private final byte[] key;

  public ReachedFormat(byte[] root) {
    this.key = RootSubspace.FORMAT.key(root).toBytes();
  }

  public int read(ReadTransaction tx) {
    byte[] bytes = Awaiting.await(tx.get(key));
    if (bytes == null) {
      return 0;
    }
    return FORMAT.reader(bytes).smallInteger();
  }

  public void write(Transaction tx, int databaseFormat) {
    tx.set(key, new TupleWriter(8).integer(FORMAT.number()).integer(databaseFormat).toBytes());
  }

  /** Makes the next start look at each database. */
  public void clear(Transaction tx) {
    tx.clear(key);
  }
}
