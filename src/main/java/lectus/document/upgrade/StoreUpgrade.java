package lectus.document.upgrade;

import com.apple.foundationdb.Transaction;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.IndexesSubspace;
import lectus.database.NamePage;
import lectus.database.NameRange;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.ReachedFormat;
import lectus.store.Store;
import lectus.store.TransactionRunner;
import lectus.task.RunningTask;
import lectus.task.Tasks;
import lectus.tuple.MalformedTupleException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Upgrades all databases of a store that are not in the current format. Several servers may do it
 * at once. If one is killed half way, the next goes on from there: every transaction leaves a
 * database that can be upgraded. Servers of earlier versions must not run meanwhile.
 */
public final class StoreUpgrade {
  private static final Logger LOG = LoggerFactory.getLogger(StoreUpgrade.class);

  /**
   * All databases have the current format, and those with indexes say so. It is above {@link
   * DatabaseHandle#CURRENT_FORMAT}, which earlier versions look for, because databases without
   * indexes stay theirs.
   */
  static final int REACHED = 2;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final ReachedFormat format;
  private final Tasks tasks;

  public StoreUpgrade(Store store, Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.tasks = store.tasks();
    this.format = new ReachedFormat(store.rootPrefix());
  }

  /**
   * Whether databases must be upgraded before they are served. Otherwise nothing but a mark is
   * missing, and a store that takes no writes, such as one whose disk is full, is served without.
   */
  public boolean isNeeded() {
    return transactions.<Integer>read(format::read) < DatabaseHandle.CURRENT_FORMAT;
  }

  /**
   * Returns when every database has been upgraded, at once if the store is marked as current. A
   * database with unreadable rows keeps its format; the next start tries again.
   */
  public void run() {
    if (transactions.<Integer>read(format::read) >= REACHED) {
      return;
    }
    if (upgradeAll()) {
      transactions.<Void>runIdempotent(
          tx -> {
            format.write(tx, REACHED);
            return null;
          });
    }
  }

  private boolean upgradeAll() {
    boolean isComplete = true;
    Optional<NameRange> range = Optional.of(NameRange.ALL);
    while (range.isPresent()) {
      NamePage page = catalogue.names(range.get());
      for (DatabaseName name : page.names()) {
        isComplete &= upgrade(name);
      }
      range = page.next();
    }
    return isComplete;
  }

  private boolean upgrade(DatabaseHandle db) {
    try (RunningTask task = tasks.begin("database_upgrade", db.name().text())) {
      return new DatabaseUpgrade(catalogue, transactions, db, task).run();
    }
  }

  private Void markIndexed(Transaction tx, DatabaseName name) {
    DatabaseHandle db = catalogue.currentForWrites(tx, name);
    if (!db.indexes().isEmpty()) {
      new IndexesSubspace(db.prefix()).closeToServersWithout(tx);
      catalogue.moveVersion(tx, db);
    }
    return null;
  }

  private boolean upgrade(DatabaseName name) {
    try {
      DatabaseHandle db = catalogue.open(name);
      if (!db.isCurrent()) {
        return upgrade(db);
      }
      if (!db.indexes().isEmpty()) {
        transactions.<Void>runIdempotent(tx -> markIndexed(tx, name));
      }
      return true;
    } catch (LectusException e) {
      if (e.error() instanceof LectusError.NotFound) {
        return true;
      }
      throw e;
    } catch (MalformedTupleException | IllegalArgumentException damaged) {
      LOG.error("The database {} cannot be upgraded: {}", name.text(), damaged.getMessage());
      return false;
    }
  }
}
