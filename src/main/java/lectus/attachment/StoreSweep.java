package lectus.attachment;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseInstance;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.LeasedRounds;
import lectus.store.LeasedRounds.LeasedSteps;
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

  /**
   * A minute, while the disk is short of space. An upload whose document takes longer has to be
   * sent again then, and whoever still reads a replaced content loses the rest.
   */
  static final long SHORT_GRACE_VERSIONS = 60_000_000;

  private static final int DATABASES_AT_ONCE = 100;

  private final Store store;
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final LeasedRounds rounds;
  private final long graceVersions;
  private final int databasesAtOnce;
  private final Deque<DatabaseName> found = new ArrayDeque<>();
  private Optional<DatabaseName> last = Optional.empty();

  public StoreSweep(Store store, Catalogue catalogue) {
    this(store, catalogue, new LeasedRounds(store, TASK), GRACE_VERSIONS, DATABASES_AT_ONCE);
  }

  /** A sweep whose rounds follow each other without a pause. */
  StoreSweep(Store store, Catalogue catalogue, long graceVersions, int databasesAtOnce) {
    this(store, catalogue, LeasedRounds.withoutPause(store, TASK), graceVersions, databasesAtOnce);
  }

  private StoreSweep(
      Store store,
      Catalogue catalogue,
      LeasedRounds rounds,
      long graceVersions,
      int databasesAtOnce) {
    this.store = store;
    this.catalogue = catalogue;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.rounds = rounds;
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
    return rounds.step(tx -> {}, this::piece);
  }

  private boolean piece(boolean isFirst) {
    if (isFirst) {
      found.clear();
      last = Optional.empty();
    }
    if (found.isEmpty()) {
      look();
    } else {
      sweep(found.remove());
    }
    return last.isPresent() || !found.isEmpty();
  }

  /** Most databases have nothing to sweep, and are not opened for that. */
  private void look() {
    List<DatabaseInstance> lives =
        transactions.read(
            tx -> {
              List<DatabaseInstance> next = catalogue.lives(tx, "", last, databasesAtOnce);
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
    last =
        lives.size() == databasesAtOnce
            ? Optional.of(lives.get(lives.size() - 1).name())
            : Optional.empty();
  }

  private static CompletableFuture<Boolean> mayBeSwept(ReadTransaction tx, byte[] prefix) {
    CompletableFuture<Boolean> uploads = any(tx, new UploadsSubspace(prefix).range());
    return any(tx, new UnusedSubspace(prefix).range())
        .thenCombine(uploads, (unused, begun) -> unused || begun);
  }

  private static CompletableFuture<Boolean> any(ReadTransaction tx, Range range) {
    return tx.snapshot().getRange(range, 1).asList().thenApply(rows -> !rows.isEmpty());
  }

  private void sweep(DatabaseName name) {
    try {
      DatabaseHandle db = catalogue.open(name);
      new ContentSweep(catalogue, transactions, rounds, graceVersions, unusedGrace(), db).run();
    } catch (LectusException gone) {
      if (!(gone.error() instanceof LectusError.NotFound)) {
        throw gone;
      }
    }
  }

  private long unusedGrace() {
    return store.isShortOfSpace() ? Math.min(graceVersions, SHORT_GRACE_VERSIONS) : graceVersions;
  }

  /** Releases the lease, so that another server can continue immediately. */
  @Override
  public void giveBack() {
    rounds.giveBack();
  }
}
