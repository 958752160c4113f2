package lectus.store;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * How far the upgrade of a store's databases is, so that a start need not look at each of them: 1
 * if all have format 1, 2 if those that have indexes say so, too.
 *
 * <pre>
 * key          value
 * (root, 5)    (format 1, what all databases have reached); 0 if missing
 * </pre>
 */
public final class ReachedFormat {
  private static final StoredFormat FORMAT = new StoredFormat(1, "The store's format");

  private final byte[] key;

  public ReachedFormat(byte[] root) {
    this.key = key(root);
  }

  /** Returns the only key. */
  public static byte[] key(byte[] root) {
    return RootSubspace.FORMAT.key(root).toBytes();
  }

  public int read(ReadTransaction tx) {
    byte[] bytes = Awaiting.await(tx.get(key));
    if (bytes == null) {
      return 0;
    }
    return FORMAT.reader(bytes).only(TupleReader::smallInteger);
  }

  public void write(Transaction tx, int reached) {
    tx.set(key, new TupleWriter(8).integer(FORMAT.number()).integer(reached).toBytes());
  }

  /** Makes the next start look at each database. */
  public void clear(Transaction tx) {
    tx.clear(key);
  }
}
