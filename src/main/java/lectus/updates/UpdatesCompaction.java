package lectus.updates;

import java.time.Duration;
import lectus.database.UpdatesSubspace;
import lectus.store.Lease;
import lectus.store.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/**
 * Keeps the updates log as small as the number of databases. Each living database keeps its {@code
 * created} row and its last {@code updated} row. Each name with deleted databases keeps one {@code
 * deleted} row, the last, which records when the first of them was created. That row stays for the
 * store's lifetime: without it, the reader of an older token could not learn that a database is
 * gone.
 *
 * <p>Each step is a transaction of its own. It touches only committed rows, which no writer reads,
 * so it makes no writer lose. Only the server that holds the lease takes steps. If another server
 * takes the lease during a step, that step runs again and finds it taken.
 */
public final class UpdatesCompaction implements LeasedSteps {
  /** The most rows that a step takes of each bucket. */
  private static final int ROWS_PER_BUCKET = 256;

  static final String TASK = "updates-compaction";

  /** About ten seconds: how long the log grows uncompacted when its server dies. */
  private static final long LEASE_VERSIONS = 10_000_000;

  /** Shorter than an orderly shutdown may take. */
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

  /** Compacts the next rows. Returns false if no rows follow them or another server compacts. */
  @Override
  public boolean step() {
    // If it is stored twice, the second run continues after the first.
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

  /** Releases the lease, so that another server can continue immediately. */
  @Override
  public void giveBack() {
    atTheEnd.runIdempotent(
        tx -> {
          lease.giveBack(tx);
          return null;
        });
  }
}
