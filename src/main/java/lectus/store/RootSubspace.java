package lectus.store;

import com.apple.foundationdb.Range;
import lectus.tuple.TupleWriter;

/**
 * The subspaces below the store's root, each the first element of its keys. Numbers are stored, so
 * they never change and are never used again.
 */
public enum RootSubspace {
  /** Names of databases. */
  CATALOGUE(0),
  /** Which databases were updated, created and deleted, in the order in which it happened. */
  UPDATES(1),
  /** Where in {@link #UPDATES} the last row of each database is. */
  UPDATE_POINTERS(2),
  /** Transactions that were stored, as long as somebody may ask (RFC 003). */
  TRANSACTION_IDS(3),
  /** When a database was last created or deleted. */
  CATALOGUE_VERSION(4),
  /** Which format all databases have reached. */
  FORMAT(5),
  /** Which server does what one at a time does. */
  LEASES(6),
  /** The store's own name. */
  STORE_ID(15);

  private final int number;

  RootSubspace(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }

  /** Where all its keys lie. */
  public Range range(byte[] root) {
    return Range.startsWith(key(root).toBytes());
  }

  /** Begins a key of this subspace. */
  public TupleWriter key(byte[] root) {
    return TupleWriter.startingWith(root).integer(number);
  }
}
