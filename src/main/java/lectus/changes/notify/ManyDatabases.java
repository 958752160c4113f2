package lectus.changes.notify;

import com.apple.foundationdb.ReadTransaction;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.UpdatesLog;
import lectus.changes.notify.CandidateQueue.CandidateMemory;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedRights;
import lectus.changes.page.LivePage;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.Rows;
import lectus.changes.page.Since;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.document.RowParts.PageLimits;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/**
 * Reads the changes of many databases in one order, that of the store's commits, with a single
 * resume position. Databases created later join; deleted ones leave in order.
 */
public final class ManyDatabases {
  /** A reader's thread is released for others after this time, and notices that its client left. */
  private static final Duration STEP = Duration.ofMillis(200);

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final UpdatesLog log;
  private final PageLimits pages;
  private final ScanLimits scans;
  private final CandidateMemory memory;
  private final FeedRights rights;

  /**
   * A page, and who may read the databases that were looked at for it.
   *
   * @param shown what the reader's user sees
   * @param formerReaders who could read the databases of which it says that they are deleted, by
   *     the points of these rows
   * @param isFindingOut whether it ended while it was still finding out what follows
   * @param bereft the databases whose stored feed has been removed, or was and is another one now
   */
  record Page(
      LivePage<StorePosition> shown,
      Map<DatabaseName, SecurityObject> readers,
      Map<StorePosition, SecurityObject> formerReaders,
      boolean isFindingOut,
      Set<DatabaseName> bereft) {}

  /**
   * @param candidateBytes memory that all readers together may use for candidates, and for the rows
   *     of the updates log that they share
   */
  public ManyDatabases(
      Store store,
      Catalogue catalogue,
      TransactionRunner transactions,
      FeedRights rights,
      long candidateBytes) {
    this(
        store,
        catalogue,
        transactions,
        rights,
        PageLimits.DEFAULT,
        ScanLimits.DEFAULT,
        new CandidateMemory(candidateBytes));
  }

  ManyDatabases(
      Store store,
      Catalogue catalogue,
      TransactionRunner transactions,
      FeedRights rights,
      PageLimits pages,
      ScanLimits scans,
      CandidateMemory memory) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.log = new UpdatesLog(store, memory.ofLog());
    this.pages = pages;
    this.scans = scans;
    this.memory = memory;
    this.rights = rights;
  }

  /**
   * Opens the changes of a set of databases for live reading. Each row names its database ({@link
   * Rows#database}); a row without bytes says that its database was deleted ({@link Rows#isLeft}).
   * A row's {@code seq} is its database's own sequence; its point is the store's.
   *
   * <p>A position is valid for any set of databases. It says nothing about earlier changes of
   * databases that were not in the set, or that the user was not allowed to read.
   *
   * @param user sees the databases that are readable for that user at each time
   * @throws LectusException {@code bad_request}: the store has not reached {@code since}
   */
  public LiveStart<StorePosition> live(
      DatabaseSet databases,
      FeedOptions options,
      Since<StorePosition> since,
      UserContext user,
      DatabaseNotifications events) {
    StorePosition from = position(since, options);
    return new LiveStart<>(
        new ManyDatabasesSource(this, events, databases, options, VisibleDatabases.of(user)), from);
  }

  private StorePosition position(Since<StorePosition> since, FeedOptions options) {
    return transactions.read(
        tx -> {
          long readVersion = Awaiting.await(tx.getReadVersion());
          if (since.isNow()) {
            return new StorePosition(Versionstamp.upTo(readVersion));
          }
          StorePosition after = since.after().orElseThrow();
          boolean begins = after.isBeginning();
          return begins && options.filter() instanceof FeedFilter.OfFeed
              ? new StorePosition(Versionstamp.ZERO, Versionstamp.upTo(readVersion))
              : after.checkReached(tx);
        });
  }

  CandidateScan scan(DatabaseSet databases, StorePosition from) {
    return new CandidateScan(databases, catalogue, log, scans, memory, from);
  }

  /**
   * Reads what follows a position, as far as one short transaction allows. The page may have no
   * rows and not advance before the end: then {@code scan} has advanced.
   *
   * @param scan continues after {@code from}; it stays usable whatever fails
   */
  Page page(
      CandidateScan scan,
      VisibleDatabases visible,
      FeedOptions options,
      StorePosition from,
      long limit) {
    return transactions.read(
        tx -> {
          PageTime time = new PageTime(STEP);
          OpenDatabases openings =
              new OpenDatabases(
                  tx, catalogue, rights, from, scans.openings(), time, visible, options);
          if (!scan.run(tx, openings, from, time)) {
            LivePage<StorePosition> none =
                new LivePage<>(Rows.none(), from, false, 1, Optional.empty());
            return new Page(none, openings.readers(), Map.of(), true, openings.bereft());
          }
          Map<StorePosition, SecurityObject> formerReaders = new HashMap<>();
          CandidateMerge merge =
              new CandidateMerge(
                  tx,
                  scan.candidates(),
                  openings,
                  (name, end) -> isShown(tx, name, end, visible, formerReaders),
                  options,
                  pages,
                  time);
          LivePage<StorePosition> page = merge.page(from, limit);
          boolean isFindingOut = !page.reachedEnd() && !merge.isHeldUp();
          return new Page(page, openings.readers(), formerReaders, isFindingOut, openings.bereft());
        });
  }

  private boolean isShown(
      ReadTransaction tx,
      DatabaseName name,
      StorePosition end,
      VisibleDatabases visible,
      Map<StorePosition, SecurityObject> formerReaders) {
    SecurityObject readers =
        log.end(tx, name, end.at()).map(rights::formerReaders).orElse(SecurityObject.ADMIN_ONLY);
    formerReaders.put(end, readers);
    return visible.user.isServerAdmin() || visible.isAmong(readers);
  }

  /**
   * Limits on how much of a store one transaction examines for a reader of many databases.
   *
   * @param candidates candidates kept in memory for one reader if {@link
   *     CandidateQueue.CandidateMemory} allows
   * @param logRows rows of the updates log read at once from each bucket
   * @param rows rows of the catalogue, and likewise of the updates log, examined in one transaction
   */
  record ScanLimits(int candidates, int logRows, int listed, int rows, int openings) {
    static final ScanLimits DEFAULT = new ScanLimits(4_000_000, 256, 2_000, 20_000, 2_000);

    ScanLimits {
      if (candidates < 2 || logRows < 1 || listed < 1 || rows < 1 || openings < 1) {
        throw new IllegalArgumentException("With these limits no reader makes progress");
      }
    }
  }

  /**
   * Which databases a reader's user sees: those that the user may read, as of each page's read
   * version. The others seem not to exist. That a database is deleted is told to those who could
   * read it at that time.
   */
  record VisibleDatabases(UserContext user) {
    static final VisibleDatabases EVERYTHING = new VisibleDatabases(UserContext.SERVER);

    static VisibleDatabases of(UserContext user) {
      return user.isServerAdmin() ? EVERYTHING : new VisibleDatabases(user);
    }

    boolean isAmong(SecurityObject readers) {
      return FeedRights.includes(readers, user);
    }
  }
}
