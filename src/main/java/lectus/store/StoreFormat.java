package lectus.store;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleWriter;

/**
 * The format that all databases of a store have reached at least, so that a start need not look at
 * each of them.
 *
 * <pre>
 * key          value
 * (root, 5)    (format 1, number of the databases' format); where there is none it is 0
 * </pre>
 */
public final class StoreFormat {
  private static final StoredFormat FORMAT = new StoredFormat(1, "The store's format");

  private final byte[] key;

  public StoreFormat(byte[] root) {
    this.key = RootSubspace.FORMAT.key(root).toBytes();
  }

  public int read(ReadTransaction tx) {
    byte[] bytes = Reads.await(tx.get(key));
    if (bytes == null) {
      return 0;
    }
    return FORMAT.reader(bytes).smallInteger();
  }

  public void write(Transaction tx, int databaseFormat) {
    tx.set(key, new TupleWriter(8).integer(FORMAT.number()).integer(databaseFormat).toBytes());
  }

  /** The next start looks at each database. */
  public void clear(Transaction tx) {
    tx.clear(key);
  }
}
