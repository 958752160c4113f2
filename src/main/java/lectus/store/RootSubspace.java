package lectus.store;

import com.apple.foundationdb.Range;
import lectus.json.TupleWriter;

/**
 * The subspaces below the store's root. Each number is the first element of the subspace's keys.
 * Numbers are stored, so they never change.
 */
public enum RootSubspace {
  /** The names of databases. */
  CATALOGUE(0),
  /** Updates, creations and deletions of databases, in commit order. */
  UPDATES(1),
  /** The position of each database's last row in {@link #UPDATES}. */
  UPDATE_POINTERS(2),
  /** Stored transactions, kept for as long as a writer may ask about them (RFC 003). */
  TRANSACTION_IDS(3),
  /** The time of the last creation or deletion of a database. */
  CATALOGUE_VERSION(4),
  /** The holders of tasks that one server at a time performs. */
  LEASES(6),
  /** The store's admins, and their passwords' hashes. */
  ADMINS(7),
  /** What servers share and nobody else knows. */
  SECRETS(8),
  /** What is filled from documents in the background. */
  JOBS(10),
  /** Which version there was at which time. */
  TIMES(13),
  /** Settings that were changed while servers ran. */
  SETTINGS(14),
  /** Databases that were deleted and are kept for a while. */
  DELETED(17),
  /** The store's id. */
  STORE_ID(15),
  /** Which server has which bucket of replications. */
  BUCKETS(16),
  /** Databases that are being restored. */
  RESTORES(18),
  /** Databases that leave for another place, or arrive from one. */
  RELOCATIONS(19);

  private final int number;

  RootSubspace(int number) {
    this.number = number;
  }

  public Range range(byte[] root) {
    return Range.startsWith(key(root).toBytes());
  }

  public TupleWriter key(byte[] root) {
    return new TupleWriter(root).integer(number);
  }
}
