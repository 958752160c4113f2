package lectus.updates;

import lectus.database.UpdatesSubspace;
import lectus.store.Store;
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
 * committed, which no writer reads, so it makes no writer lose; of two steps at once, on whatever
 * servers, one runs again.
 */
public final class UpdatesCompaction {
  /** Rows that a step takes at most of each bucket. */
  private static final int ROWS_PER_BUCKET = 256;

  private final TransactionRunner transactions;
  private final UpdatesLog log;
  private final UpdatesSubspace rows;
  private final UpdatePointers pointers;
  private final int rowsPerBucket;

  public UpdatesCompaction(Store store, TransactionRunner transactions) {
    this(store, transactions, ROWS_PER_BUCKET);
  }

  UpdatesCompaction(Store store, TransactionRunner transactions, int rowsPerBucket) {
    this.transactions = transactions;
    this.log = new UpdatesLog(store);
    this.rows = new UpdatesSubspace(store.rootPrefix());
    this.pointers = new UpdatePointers(store.rootPrefix());
    this.rowsPerBucket = rowsPerBucket;
  }

  /** Compacts the next rows; false if none followed them. */
  public boolean step() {
    // Stored twice, the second run goes on from the first.
    return transactions.runIdempotent(
        tx -> {
          Versionstamp from = pointers.progress(tx);
          UpdatesLog.Chunk chunk = log.read(tx.snapshot(), from, rowsPerBucket);
          if (!chunk.rows().isEmpty()) {
            new CompactionStep(tx, rows, pointers).compact(chunk.rows());
            Versionstamp last = chunk.rows().get(chunk.rows().size() - 1).at();
            pointers.setProgress(tx, last.successor());
          }
          return chunk.next().isPresent();
        });
  }
}
