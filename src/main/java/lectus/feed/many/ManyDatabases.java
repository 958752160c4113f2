package lectus.feed.many;

import java.time.Duration;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.document.PageLimits;
import lectus.error.LectusException;
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
  /** A reader's thread is free again for others after so long, and notices that its client left. */
  private static final Duration STEP = Duration.ofMillis(200);

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final UpdatesLog log;
  private final PageLimits pages;
  private final ScanLimits scans;
  private final CandidateMemory memory;

  /**
   * @param candidateBytes that all readers together may hold of the databases they are about to
   *     read
   */
  public ManyDatabases(
      Store store, Catalogue catalogue, TransactionRunner transactions, long candidateBytes) {
    this(
        store,
        catalogue,
        transactions,
        PageLimits.DEFAULT,
        ScanLimits.DEFAULT,
        new CandidateMemory(candidateBytes));
  }

  ManyDatabases(
      Store store,
      Catalogue catalogue,
      TransactionRunner transactions,
      PageLimits pages,
      ScanLimits scans,
      CandidateMemory memory) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.log = new UpdatesLog(store);
    this.pages = pages;
    this.scans = scans;
    this.memory = memory;
  }

  /**
   * Opens the changes of a set of databases to be read live. Each row names its database ({@link
   * Rows#database}); a row without bytes says that its database was deleted ({@link Rows#isLeft}).
   * The rows' {@code seq} is their database's own sequence, their point that of the store.
   *
   * <p>A position is good for any set of databases, but tells nothing of changes before it of
   * databases that were not in the set.
   *
   * @throws LectusException {@code bad_request}: the store has not reached {@code since}
   */
  public LiveStart<StorePosition> live(
      DatabaseSet databases, FeedOptions options, StoreSince since, DatabaseEvents events) {
    return new LiveStart<>(
        new ManyDatabasesSource(this, events, databases, options), position(since));
  }

  private StorePosition position(StoreSince since) {
    if (since instanceof StoreSince.After after) {
      return transactions.read(after.position()::checkReached);
    }
    long readVersion = transactions.read(tx -> Reads.await(tx.getReadVersion()));
    return new StorePosition(Versionstamp.upTo(readVersion));
  }

  /** A scan that begins at a position. */
  CandidateScan scan(DatabaseSet databases, StorePosition from) {
    return new CandidateScan(databases, catalogue, log, scans, memory, from);
  }

  /**
   * What comes next behind a position, as far as one short transaction gets. It may have no rows
   * and not move on, although the end is not reached: then {@code scan} has come further.
   *
   * @param scan goes on behind {@code from}; whatever fails, it can be gone on with
   * @param limit rows at most
   */
  LivePage<StorePosition> page(
      CandidateScan scan, FeedOptions options, StorePosition from, long limit) {
    return transactions.read(
        tx -> {
          PageTime time = new PageTime(STEP);
          Openings openings = new Openings(tx, catalogue, from, scans.openings(), time);
          return scan.run(tx, openings, from, time)
              ? new CandidateMerge(tx, scan.candidates(), openings, options, pages, time)
                  .page(from, limit)
              : new LivePage<>(Rows.none(), from, false, 1, Optional.empty());
        });
  }
}
