package lectus.changes.log;

import com.apple.foundationdb.Transaction;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.UpdatesSubspace;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/**
 * Keeps the updates log as small as the number of databases. Each living database keeps its {@code
 * created} row and its last {@code updated} row. Each name with deleted databases keeps one {@code
 * deleted} row, the last, which records when the first of them was created and who could read any
 * of them. That row stays for the store's lifetime: without it, the reader of an older token could
 * not learn that a database is gone.
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

  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final Lease lease;
  private final UpdatesLog log;
  private final UpdatesSubspace rows;
  private final UpdatePointers pointers;
  private final int rowsPerBucket;

  public UpdatesCompaction(Store store, TransactionRunner transactions) {
    this(store, transactions, new Lease(store, TASK, LEASE_VERSIONS), ROWS_PER_BUCKET);
  }

  UpdatesCompaction(Store store, TransactionRunner transactions, Lease lease, int rowsPerBucket) {
    this.transactions = transactions;
    this.atTheEnd = new TransactionRunner(store, TransactionLimits.AT_THE_END);
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

  @Override
  public void giveBack() {
    atTheEnd.writeIdempotent(tx -> lease.giveBack(tx));
  }

  /**
   * Takes the next rows of the updates log, oldest first, and clears the rows that they make
   * superfluous or that are superfluous themselves. All pointers are read before the first row is
   * processed, and each is written once.
   */
  private static final class CompactionStep {
    private final Transaction tx;
    private final UpdatesSubspace rows;
    private final UpdatePointers pointers;
    private final Map<InstanceId, Versionstamp> lastUpdated = new HashMap<>();
    private final Map<DatabaseName, DatabaseUpdate> lastDeleted = new HashMap<>();

    CompactionStep(Transaction tx, UpdatesSubspace rows, UpdatePointers pointers) {
      this.tx = tx;
      this.rows = rows;
      this.pointers = pointers;
    }

    void compact(List<DatabaseUpdate> next) {
      readPointers(next);
      for (DatabaseUpdate row : next) {
        switch (row.kind()) {
          case CREATED -> {} // kept until its instance is deleted
          case UPDATED -> update(row);
          case DELETED -> delete(row);
        }
      }
      lastUpdated.forEach((instance, at) -> pointers.setUpdated(tx, instance, at));
      lastDeleted.values().forEach(row -> pointers.setDeleted(tx, row));
    }

    private void readPointers(List<DatabaseUpdate> next) {
      Map<InstanceId, CompletableFuture<Optional<Versionstamp>>> updated = new HashMap<>();
      Map<DatabaseName, CompletableFuture<Optional<DatabaseUpdate>>> deleted = new HashMap<>();
      for (DatabaseUpdate row : next) {
        if (row.kind() != DatabaseUpdate.Kind.CREATED) {
          updated.computeIfAbsent(row.instance(), it -> pointers.updated(tx.snapshot(), it));
        }
        if (row.kind() == DatabaseUpdate.Kind.DELETED) {
          deleted.computeIfAbsent(row.name(), it -> pointers.deleted(tx.snapshot(), it));
        }
      }
      updated.forEach((key, it) -> Awaiting.await(it).ifPresent(at -> lastUpdated.put(key, at)));
      Map<DatabaseName, CompletableFuture<Optional<DatabaseUpdate>>> rowsOfEnds = new HashMap<>();
      deleted.forEach(
          (name, it) ->
              Awaiting.await(it)
                  .ifPresent(
                      row ->
                          rowsOfEnds.put(
                              name, rows.read(tx.snapshot(), row.instance(), row.at()))));
      rowsOfEnds.forEach(
          (name, it) -> Awaiting.await(it).ifPresent(row -> lastDeleted.put(name, row)));
    }

    /** The pointer may refer to this row already, if how far the log was compacted was lost. */
    private void update(DatabaseUpdate row) {
      Versionstamp former = lastUpdated.put(row.instance(), row.at());
      if (!row.at().equals(former)) {
        clear(row.instance(), former);
      }
    }

    /**
     * Ends the life: of its rows only this one stays, and the name's previous end is merged into
     * it.
     */
    private void delete(DatabaseUpdate row) {
      clear(row.instance(), row.joined());
      clear(row.instance(), lastUpdated.remove(row.instance()));
      pointers.clearUpdated(tx, row.instance());
      DatabaseUpdate earlier = lastDeleted.put(row.name(), row);
      if (earlier != null) {
        clear(earlier.instance(), earlier.at());
        DatabaseUpdate both = row.alsoEnding(earlier);
        rows.put(tx, both);
        lastDeleted.put(row.name(), both);
      }
    }

    /** No read depends on the absence of a row, so clearing it needs no conflict range. */
    private void clear(InstanceId instance, Versionstamp at) {
      if (at != null) {
        tx.options().setNextWriteNoWriteConflictRange();
        rows.clear(tx, instance, at);
      }
    }
  }
}
