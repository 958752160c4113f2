package lectus.attachment;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.NamePage;
import lectus.database.NameRange;
import lectus.error.LectusError;
import lectus.error.LectusException;
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

  /** Shorter than an orderly shutdown may take. */
  private static final TransactionLimits AT_THE_END =
      new TransactionLimits(5, Duration.ofSeconds(2));

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final Lease lease;
  private final long graceVersions;
  private final Deque<DatabaseName> names = new ArrayDeque<>();
  private Optional<NameRange> range = Optional.empty();

  public StoreSweep(Store store, Catalogue catalogue) {
    this(store, catalogue, GRACE_VERSIONS);
  }

  StoreSweep(Store store, Catalogue catalogue, long graceVersions) {
    this.catalogue = catalogue;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.atTheEnd = new TransactionRunner(store, AT_THE_END);
    this.lease = new Lease(store.rootPrefix(), TASK, LEASE_VERSIONS);
    this.graceVersions = graceVersions;
  }

  /**
   * Sweeps the next database.
   *
   * @return false after the last one, or if another server sweeps
   */
  @Override
  public boolean step() {
    if (names.isEmpty() && range.isEmpty()) {
      range = Optional.of(NameRange.ALL).filter(all -> holds());
    }
    if (names.isEmpty() && range.isPresent()) {
      NamePage page = catalogue.names(range.get());
      names.addAll(page.names());
      range = page.next();
    }
    if (!names.isEmpty()) {
      sweep(names.remove());
    }
    return !names.isEmpty() || range.isPresent();
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
