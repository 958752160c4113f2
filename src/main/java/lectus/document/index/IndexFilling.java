package lectus.document.index;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.IndexesSubspace;
import lectus.document.index.IndexStatesSubspace.Progress;
import lectus.document.index.IndexTaskSubspace.Task;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.index.StoredIndex;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.LeasedSteps;
import lectus.store.RetryableErrors;
import lectus.store.Store;
import lectus.store.StoreFailures;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Builds indexes of databases that had documents before. It goes through the documents in the order
 * of their ids, a page in each transaction, which has the page's entries and how far it came.
 * Writers enter what they write, whether it lies before that point or behind it. A page conflicts
 * with writers of its documents, and they not with it: then a smaller one is tried.
 *
 * <p>The server that holds an index's lease builds it. When that server dies, another one goes on.
 */
public final class IndexFilling implements LeasedSteps {
  /** Documents in a transaction, unless their writers are in the way. */
  private static final int MOST_DOCUMENTS = 2_000;

  private static final int MOST_TASKS = 100;

  /** About ten seconds: how long the building stands still when its server dies. */
  private static final long LEASE_VERSIONS = 10_000_000;

  private static final TransactionLimits ONCE = new TransactionLimits(0, Duration.ofSeconds(10));

  private static final TransactionLimits AT_THE_END =
      new TransactionLimits(5, Duration.ofSeconds(2));

  private final Store store;
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final IndexTaskSubspace tasks;
  private final byte[] holder;
  private final int mostDocuments;
  private int documents;

  public IndexFilling(Store store, Catalogue catalogue) {
    this(store, catalogue, MOST_DOCUMENTS);
  }

  IndexFilling(Store store, Catalogue catalogue, int mostDocuments) {
    this.store = store;
    this.catalogue = catalogue;
    this.transactions = new TransactionRunner(store, ONCE);
    this.atTheEnd = new TransactionRunner(store, AT_THE_END);
    this.tasks = new IndexTaskSubspace(store.rootPrefix());
    this.holder = Lease.newHolder();
    this.mostDocuments = mostDocuments;
    this.documents = mostDocuments;
  }

  /**
   * Takes a step of each index that no other server builds. Returns whether there were any. An
   * index that cannot be built keeps no other one waiting: why is thrown when it alone is left.
   */
  @Override
  public boolean step() {
    boolean any = false;
    Optional<RuntimeException> unbuildable = Optional.empty();
    for (Task task : open()) {
      try {
        any |= step(task);
      } catch (RuntimeException failure) {
        unbuildable = Optional.of(ofTaskAlone(failure));
      }
    }
    if (!any && unbuildable.isPresent()) {
      throw unbuildable.get();
    }
    return any;
  }

  /** Returns the failure; throws it if the store is in trouble, and other tasks fail, too. */
  private static RuntimeException ofTaskAlone(RuntimeException failure) {
    boolean isOfStore =
        failure instanceof FDBException lost
            ? !RetryableErrors.isOfRequest(lost.getCode())
            : StoreFailures.foreseen(failure).isPresent();
    if (isOfStore) {
      throw failure;
    }
    return failure;
  }

  private List<Task> open() {
    return transactions.read(tx -> Awaiting.await(tasks.first(tx, MOST_TASKS)));
  }

  /** A step that is stored twice finds itself done. */
  private boolean step(Task task) {
    try {
      boolean isTaken = transactions.runIdempotent(tx -> !take(tx, task));
      documents = Math.min(mostDocuments, 2 * documents);
      return !isTaken;
    } catch (FDBException lost) {
      if (!isTooMuchAtOnce(lost)) {
        throw lost;
      }
      documents = Math.max(1, documents / 4);
      return true;
    }
  }

  private boolean isTooMuchAtOnce(FDBException lost) {
    boolean isTooLarge = FoundationDbError.TRANSACTION_TOO_LARGE.is(lost.getCode());
    return RetryableErrors.isRetryable(lost.getCode()) || (isTooLarge && documents > 1);
  }

  private Lease lease(Task task) {
    return new Lease(store.rootPrefix(), task.lease(), holder, LEASE_VERSIONS);
  }

  private boolean take(Transaction tx, Task task) {
    Lease lease = lease(task);
    if (lease.isTaken(tx)) {
      return false;
    }
    Optional<DatabaseHandle> db = database(tx, task);
    Optional<StoredIndex> index =
        db.flatMap(it -> it.indexes().numbered(task.index())).filter(it -> !it.isReadable());
    if (index.isPresent()) {
      lease.hold(tx);
      fill(tx, db.get(), index.get(), lease);
    } else {
      tasks.clear(tx, task.instance(), task.index());
      lease.giveBack(tx);
    }
    return true;
  }

  private Optional<DatabaseHandle> database(Transaction tx, Task task) {
    try {
      return Optional.of(catalogue.currentForWrites(tx, task.database()))
          .filter(db -> db.instance().equals(task.instance()));
    } catch (LectusException gone) {
      if (gone.error() instanceof LectusError.NotFound) {
        return Optional.empty();
      }
      throw gone;
    }
  }

  private void fill(Transaction tx, DatabaseHandle db, StoredIndex index, Lease lease) {
    IndexStatesSubspace states = new IndexStatesSubspace(db);
    Optional<Progress> before = Awaiting.await(states.progress(tx, index.number()));
    StoredRows.Page page =
        new StoredRows(tx, db, List.of(index)).read(before.map(Progress::last), documents);
    List<EntryChange> rows = page.rows();
    rows.forEach(row -> row.write(tx));
    guard(tx, db, page);
    if (page.isLast()) {
      states.clearProgress(tx, index.number());
      new IndexesSubspace(db.prefix()).put(tx, index.readable());
      tasks.clear(tx, db.instance(), index.number());
      lease.giveBack(tx);
      catalogue.moveVersion(tx, db);
    } else {
      long documentsBefore = before.map(Progress::documents).orElse(0L);
      long entriesBefore = before.map(Progress::entries).orElse(0L);
      states.setProgress(
          tx,
          index.number(),
          new Progress(
              documentsBefore + page.documents().size(),
              entriesBefore + rows.size(),
              page.lastId().orElseThrow()));
    }
  }

  /** A writer of one of the page's documents makes the transaction conflict. */
  private static void guard(Transaction tx, DatabaseHandle db, StoredRows.Page page) {
    if (!page.documents().isEmpty()) {
      byte[] end =
          DatabaseSubspace.REVISIONS
              .key(db.prefix())
              .string(page.lastId().get())
              .octet(0xff)
              .toBytes();
      String first = page.documents().get(0).id();
      tx.addReadConflictRange(
          DatabaseSubspace.REVISIONS.key(db.prefix()).string(first).toBytes(), end);
    }
  }

  /** Releases the leases, so that another server can go on at once. */
  @Override
  public void giveBack() {
    for (Task task : open()) {
      atTheEnd.runIdempotent(
          tx -> {
            lease(task).giveBack(tx);
            return null;
          });
    }
  }
}
