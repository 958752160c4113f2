package lectus.updates;

import java.time.Duration;
import lectus.database.UpdatesSubspace;
import lectus.store.Lease;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/**
 * Keeps the updates log as small as there are databases. Of each living database its {@code
 * created} row and its last {@code updated} row stay. Of each name whose database was deleted one
 * {@code deleted} row stays, the last, which tells since when there had been such databases: for as
 * long as the store lives, or a token from before could not tell its reader that a database is
 * gone.
 *
 * <p>Each step is a transaction of its own that does all or nothing. It only touches rows that are
 * committed, which no writer reads, so it makes no writer lose. Only the server that has the lease
 * takes steps: when another takes it over during a step, that step runs again and finds it taken.
 */
public final class UpdatesCompaction {
  /** Rows that a step takes at most of each bucket. */
  private static final int ROWS_PER_BUCKET = 256;

  static final String TASK = "updates-compaction";

  /** Some ten seconds: how long the log grows at most when its server dies. */
  private static final long LEASE_VERSIONS = 10_000_000;

  /** Shorter than an orderly stop may last. */
  private static final TransactionLimits AT_THE_END =
      new TransactionLimits(5, Duration.ofSeconds(2));

  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final Lease lease;
  private final UpdatesLog log;
  private final UpdatesSubspace rows;
  private final UpdatePointers pointers;
  private final int rowsPerBucket;

  public UpdatesCompaction(Store store, TransactionRunner transactions) {
    this(store, transactions, new Lease(store.rootPrefix(), TASK, LEASE_VERSIONS), ROWS_PER_BUCKET);
  }

  UpdatesCompaction(Store store, TransactionRunner transactions, Lease lease, int rowsPerBucket) {
    this.transactions = transactions;
    this.atTheEnd = new TransactionRunner(store, AT_THE_END);
    this.lease = lease;
    this.log = new UpdatesLog(store);
    this.rows = new UpdatesSubspace(store.rootPrefix());
    this.pointers = new UpdatePointers(store.rootPrefix());
    this.rowsPerBucket = rowsPerBucket;
  }

  /** Compacts the next rows; false if none followed them, or another server compacts. */
  public boolean step() {
    // Stored twice, the second run goes on from the first.
    return transactions.runIdempotent(
        tx -> {
          if (lease.isTaken(tx)) {
            return false;
          }
          Versionstamp from = pointers.progress(tx);
          UpdatesLog.Chunk chunk = log.read(tx.snapshot(), from, rowsPerBucket);
          if (!chunk.rows().isEmpty()) {
            lease.hold(tx);
            new CompactionStep(tx, rows, pointers).compact(chunk.rows());
            Versionstamp last = chunk.rows().get(chunk.rows().size() - 1).at();
            pointers.setProgress(tx, last.successor());
          }
          return chunk.next().isPresent();
        });
  }

  /** Lets another server go on at once. */
  public void giveBack() {
    atTheEnd.runIdempotent(
        tx -> {
          lease.giveBack(tx);
          return null;
        });
  }
}
