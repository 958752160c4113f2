package lectus.feed.many;

import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.document.PageLimits;
import lectus.feed.DatabaseEvents;
import lectus.feed.LivePage;
import lectus.feed.LiveStart;
import lectus.feed.PageTime;
import lectus.feed.Rows;
import lectus.feed.page.FeedOptions;
import lectus.feed.updates.StorePosition;
import lectus.feed.updates.StoreSince;
import lectus.store.Reads;
import lectus.store.Store;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.updates.UpdatesLog;

/**
 * Reads the changes of many databases in one order, that of the store's commits, with one position
 * to go on from. Databases that are created later join, those that are deleted leave in order.
 */
public final class ManyDatabases {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final UpdatesLog log;
  private final PageLimits pages;
  private final ScanLimits scans;
  private final InstanceNames names = new InstanceNames();

  public ManyDatabases(Store store, Catalogue catalogue, TransactionRunner transactions) {
    this(store, catalogue, transactions, PageLimits.DEFAULT, ScanLimits.DEFAULT);
  }

  ManyDatabases(
      Store store,
      Catalogue catalogue,
      TransactionRunner transactions,
      PageLimits pages,
      ScanLimits scans) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.log = new UpdatesLog(store);
    this.pages = pages;
    this.scans = scans;
  }

  /**
   * Opens the changes of a set of databases to be read live. Each row names its database ({@link
   * Rows#database}); a row without bytes says that its database was deleted ({@link Rows#isLeft}).
   * The rows' {@code seq} is their database's own sequence, their point that of the store.
   *
   * <p>A position is good for any set of databases, but tells nothing of changes before it of
   * databases that were not in the set.
   */
  public LiveStart<StorePosition> live(
      DatabaseSet databases, FeedOptions options, StoreSince since, DatabaseEvents events) {
    return new LiveStart<>(
        new ManyDatabasesSource(this, events, databases, options), position(since));
  }

  private StorePosition position(StoreSince since) {
    if (since instanceof StoreSince.After after) {
      return after.position();
    }
    long readVersion = transactions.read(tx -> Reads.await(tx.getReadVersion()));
    return new StorePosition(Versionstamp.upTo(readVersion));
  }

  /** A scan that begins at a position. */
  CandidateScan scan(DatabaseSet databases, StorePosition from) {
    return new CandidateScan(databases, catalogue, log, names, scans, from);
  }

  /** The name of a database, if somebody came across it. */
  Optional<DatabaseName> name(InstanceId instance) {
    return names.of(instance);
  }

  /** What one transaction came to: a page, or only a scan that has come further. */
  record Step(CandidateScan scan, LivePage<StorePosition> page) {}

  /** One transaction; {@code scan} itself stays as it is. */
  Step step(CandidateScan scan, FeedOptions options, StorePosition from, long limit) {
    return transactions.read(
        tx -> {
          CandidateScan further = scan.copy();
          PageTime time = new PageTime();
          Heads heads = new Heads(tx, catalogue, from, scans.heads(), time);
          if (!further.run(tx, heads, from)) {
            return new Step(further, null);
          }
          CandidateMerge merge =
              new CandidateMerge(tx, further.candidates(), heads, options, pages, time);
          return new Step(further, merge.page(from, limit));
        });
  }
}
