package lectus.document.index;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.document.index.IndexTaskSubspace.Task;
import lectus.document.job.FillingJobs;
import lectus.document.job.JobKind;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.index.StoredIndex;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionRunner;

/**
 * Indexes that an earlier version began to build, in the order of documents' ids. They are built
 * anew by jobs; what they have by then is right, since writers keep it.
 */
public final class FormerIndexTasks {
  private static final int MOST_AT_ONCE = 100;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final IndexTaskSubspace tasks;
  private final FillingJobs jobs;

  public FormerIndexTasks(Store store, Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.tasks = new IndexTaskSubspace(store.rootPrefix());
    this.jobs = new FillingJobs(store.rootPrefix());
  }

  /**
   * Whether an earlier version has begun to build an index.
   *
   * @param root the prefix of the store's keys
   */
  public static boolean has(ReadTransaction tx, byte[] root, DatabaseHandle db, StoredIndex index) {
    return Awaiting.await(new IndexTaskSubspace(root).has(tx, db.instance(), index.number()));
  }

  /** Makes jobs of all of them. Interrupted, it leaves the others as they are. */
  public void replace() {
    List<Task> some;
    do {
      some = transactions.read(tx -> Awaiting.await(tasks.first(tx, MOST_AT_ONCE)));
      for (Task task : some) {
        transactions.<Void>runIdempotent(tx -> replace(tx, task));
      }
    } while (some.size() == MOST_AT_ONCE);
  }

  private Void replace(Transaction tx, Task task) {
    Optional<DatabaseHandle> db = database(tx, task);
    tasks.clear(tx, task.instance(), task.index());
    if (db.isPresent()) {
      boolean isUnfinished =
          db.get().indexes().numbered(task.index()).filter(it -> !it.isReadable()).isPresent();
      if (isUnfinished) {
        new IndexStatesSubspace(db.get()).clearFormerProgress(tx, task.index());
        jobs.begin(tx, db.get(), JobKind.INDEX, task.index());
        catalogue.moveVersion(tx, db.get());
      }
    }
    return null;
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
}
