package lectus.attachment;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseLife;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Sweeps one database after the other. Only the server that holds the lease does; another one takes
 * over when it dies. Used by one thread.
 */
public final class StoreSweep implements LeasedSteps {
  static final String TASK = "attachments-sweep";

  /** For how long a content waits for its document, or a broken upload to go on: an hour. */
  public static final long GRACE_VERSIONS = 3_600L * 1_000_000;

  /** About half a minute: longer than the sweep of one database takes between two renewals. */
  private static final long LEASE_VERSIONS = 30_000_000;

  private static final int DATABASES_AT_ONCE = 100;

  /** Shorter than an orderly shutdown may take. */
  private static final TransactionLimits AT_THE_END =
      new TransactionLimits(5, Duration.ofSeconds(2));

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final Lease lease;
  private final long graceVersions;
  private final int databasesAtOnce;
  private final Deque<DatabaseName> found = new ArrayDeque<>();
  private Optional<DatabaseName> last = Optional.empty();
  private boolean isOnItsWay;

  public StoreSweep(Store store, Catalogue catalogue) {
    this(store, catalogue, GRACE_VERSIONS, DATABASES_AT_ONCE);
  }

  StoreSweep(Store store, Catalogue catalogue, long graceVersions, int databasesAtOnce) {
    this.catalogue = catalogue;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.atTheEnd = new TransactionRunner(store, AT_THE_END);
    this.lease = new Lease(store.rootPrefix(), TASK, LEASE_VERSIONS);
    this.graceVersions = graceVersions;
    this.databasesAtOnce = databasesAtOnce;
  }

  /**
   * Looks at the next databases, or sweeps one of those in which there may be something to sweep.
   *
   * @return false after the last one, or if another server sweeps
   */
  @Override
  public boolean step() {
    if (!found.isEmpty()) {
      sweep(found.remove());
    } else if (!isOnItsWay && !holds()) {
      return false;
    } else {
      look();
    }
    return isOnItsWay || !found.isEmpty();
  }

  /** Most databases have nothing to sweep, and are not opened for that. */
  private void look() {
    List<DatabaseLife> lives =
        transactions.read(
            tx -> {
              List<DatabaseLife> next = catalogue.lives(tx, "", last, databasesAtOnce);
              List<CompletableFuture<Boolean>> any =
                  next.stream().map(life -> mayBeSwept(tx, life.prefix())).toList();
              found.clear();
              for (int i = 0; i < next.size(); i++) {
                if (Awaiting.await(any.get(i))) {
                  found.add(next.get(i).name());
                }
              }
              return next;
            });
    isOnItsWay = lives.size() == databasesAtOnce;
    last = isOnItsWay ? Optional.of(lives.get(lives.size() - 1).name()) : Optional.empty();
  }

  private static CompletableFuture<Boolean> mayBeSwept(ReadTransaction tx, byte[] prefix) {
    CompletableFuture<Boolean> uploads = any(tx, new UploadsSubspace(prefix).range());
    CompletableFuture<Boolean> pieces = any(tx, new ResumablesSubspace(prefix).range());
    return any(tx, new UnusedSubspace(prefix).range())
        .thenCombine(uploads, (unused, begun) -> unused || begun)
        .thenCombine(pieces, (either, resumable) -> either || resumable);
  }

  private static CompletableFuture<Boolean> any(ReadTransaction tx, Range range) {
    return tx.snapshot().getRange(range, 1).asList().thenApply(rows -> !rows.isEmpty());
  }

  private void sweep(DatabaseName name) {
    try {
      DatabaseHandle db = catalogue.open(name);
      if (db.isCurrent()) {
        new ContentSweep(catalogue, transactions, lease, graceVersions, db).run();
      }
    } catch (LectusException gone) {
      if (!(gone.error() instanceof LectusError.NotFound)) {
        throw gone;
      }
    }
  }

  private boolean holds() {
    return transactions.runIdempotent(
        tx -> {
          boolean taken = lease.isTaken(tx);
          if (!taken) {
            lease.hold(tx);
          }
          return !taken;
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
