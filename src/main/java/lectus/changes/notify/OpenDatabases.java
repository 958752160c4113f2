package lectus.changes.notify;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.Departures;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.changes.notify.CandidateQueue.Candidate;
import lectus.changes.notify.ManyDatabases.VisibleDatabases;
import lectus.changes.page.EntryReader;
import lectus.changes.page.EntryReader.Stretch;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedRights;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.SecurityObject;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * Opens the candidates' databases in one transaction, many at once, up to the limit of one
 * transaction.
 */
final class OpenDatabases {
  /** Number of databases whose reads are started together. */
  private static final int TOGETHER = 32;

  private final ReadTransaction tx;
  private final Catalogue catalogue;
  private final StorePosition position;
  private final int most;
  private final PageTime time;
  private final FeedRights rights;
  private final VisibleDatabases visible;
  private final FeedOptions options;
  private final Map<DatabaseName, SecurityObject> readers = new HashMap<>();
  private final Set<DatabaseName> bereft = new HashSet<>();
  private byte[] metadataVersion;
  private boolean begun;
  private int looked;

  /**
   * @param position everything up to here was delivered
   * @param visible others are passed over as if there were no such databases
   */
  OpenDatabases(
      ReadTransaction tx,
      Catalogue catalogue,
      FeedRights rights,
      StorePosition position,
      int most,
      PageTime time,
      VisibleDatabases visible,
      FeedOptions options) {
    this.rights = rights;
    this.visible = visible;
    this.options = options;
    this.tx = tx;
    this.catalogue = catalogue;
    this.position = position;
    this.most = most;
    this.time = time;
  }

  /** Whether another transaction has to continue. */
  boolean isOver() {
    return looked >= most || (looked > 0 && time.isUp());
  }

  /**
   * Looks up where the first candidates begin, where that is unknown. The result stays a lower
   * bound in later transactions, because entries only move to later places.
   *
   * @return false if no more databases may be opened
   */
  boolean lookUp(CandidateQueue candidates) {
    if (isOver()) {
      return false;
    }
    List<Candidate> unknown = candidates.pollUnknown(atOnce());
    List<Candidate> found = unknown;
    try {
      found =
          open(unknown).stream()
              .map(open -> Candidate.changes(open.db.name(), open.next().at()))
              .toList();
    } finally {
      found.forEach(candidates::add);
    }
    return true;
  }

  int atOnce() {
    return Math.min(most - looked, TOGETHER);
  }

  /** Opens those databases that have something after the position. */
  List<OpenDatabase> open(List<Candidate> candidates) {
    if (!begun) {
      metadataVersion = catalogue.metadataVersion(tx);
      begun = true;
    }
    looked += candidates.size();
    List<CompletableFuture<Optional<OpenDatabase>>> opening = new ArrayList<>(candidates.size());
    candidates.forEach(candidate -> opening.add(open(candidate)));
    List<OpenDatabase> opened = new ArrayList<>(candidates.size());
    for (CompletableFuture<Optional<OpenDatabase>> one : opening) {
      Awaiting.await(one).map(this::begin).filter(OpenDatabase::hasNext).ifPresent(opened::add);
    }
    return opened;
  }

  private OpenDatabase begin(OpenDatabase open) {
    open.begin();
    if (open.hasLostFeed()) {
      bereft.add(open.db.name());
    }
    return open;
  }

  /** Returns the databases whose stored feed has been removed, or was and is another one now. */
  Set<DatabaseName> bereft() {
    return bereft;
  }

  /** Returns who may read the databases that were looked at. */
  Map<DatabaseName, SecurityObject> readers() {
    return readers;
  }

  private boolean isSeen(DatabaseHandle db) {
    SecurityObject those = rights.readers(db);
    readers.put(db.name(), those);
    return visible.user().isServerAdmin() || visible.isAmong(those);
  }

  private CompletableFuture<Optional<OpenDatabase>> open(Candidate candidate) {
    return catalogue
        .glimpse(tx, candidate.name(), metadataVersion)
        .thenCompose(
            db ->
                db.filter(this::isSeen).isEmpty()
                    ? CompletableFuture.completedFuture(Optional.empty())
                    : OpenDatabase.open(tx, db.get(), options, position, told(db.get(), candidate))
                        .thenApply(Optional::of));
  }

  /**
   * Returns the sequence up to which everything of a database was handed out or passed over; empty
   * of its history if nothing was.
   */
  private Optional<Sequence> told(DatabaseHandle db, Candidate candidate) {
    boolean hasMetHistory =
        db.incarnation() == 0
            || candidate.atLeast().compareTo(db.incarnations().current().begun()) > 0;
    return hasMetHistory
        ? Optional.of(new Sequence(db.incarnation(), handedOut(candidate).bytes()))
        : position.sequenceIn(db);
  }

  /**
   * Returns up to where everything of a database was handed out or passed over. A database that the
   * user may read only now was passed over so far; rows of it from before would come out of order.
   */
  private Versionstamp handedOut(Candidate candidate) {
    Versionstamp before = candidate.atLeast().predecessor();
    return before.compareTo(position.at()) > 0 ? before : position.at();
  }

  /** One database in one transaction, with its next changes read ahead. */
  static final class OpenDatabase implements Comparable<OpenDatabase> {
    /** Enough for most databases of a large set: a read costs more than its rows. */
    private static final int FIRST_BATCH = 16;

    private static final int LARGEST_BATCH = 256;

    private final ReadTransaction tx;
    private final DatabaseHandle db;
    private final StorePosition reader;
    private final Optional<Sequence> told;

    /** As they are in this database. */
    private final FeedOptions options;

    private final boolean hasLostFeed;

    /** Null until they are read, if the database has several shards. */
    private List<ChangeEntry> entries;

    private Departures departures;

    private int at;

    /** Number of entries in the last read: if that many came, there may be more. */
    private int batch = FIRST_BATCH;

    private OpenDatabase(
        ReadTransaction tx,
        DatabaseHandle db,
        FeedOptions options,
        boolean hasLostFeed,
        StorePosition reader,
        Optional<Sequence> told,
        Optional<Stretch> first) {
      this.reader = reader;
      this.hasLostFeed = hasLostFeed;
      this.options = options;
      this.tx = tx;
      this.db = db;
      this.told = told;
      this.entries = first.map(Stretch::entries).orElse(null);
      this.departures = first.map(Stretch::departures).orElse(Departures.NONE);
    }

    /**
     * Starts to open a database; call {@link #begin} next.
     *
     * @param options what rows show, wherever they are
     * @param position of the reader
     * @param told everything up to here was delivered
     */
    static CompletableFuture<OpenDatabase> open(
        ReadTransaction tx,
        DatabaseHandle db,
        FeedOptions options,
        StorePosition position,
        Optional<Sequence> told) {
      List<ShardId> shards = db.topology().current().shards();
      boolean hasOneShard = db.topology().generations().size() == 1 && shards.size() == 1;
      Optional<CompletableFuture<List<ChangeEntry>>> changes =
          hasOneShard
              ? Optional.of(
                  new ChangesSubspace(db)
                      .read(tx, shards.get(0), EntryRange.after(told, FIRST_BATCH)))
              : Optional.empty();
      return options
          .amongMany(tx, db)
          .thenCompose(
              here -> {
                CompletableFuture<Optional<Stretch>> first =
                    changes
                        .map(
                            it ->
                                new EntryReader(tx, db, here.departing())
                                    .withDepartures(it, told, FIRST_BATCH)
                                    .thenApply(Optional::of))
                        .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty()));
                return findLostFeed(tx, db, here, position)
                    .thenCombine(
                        first,
                        (isLost, read) ->
                            new OpenDatabase(tx, db, here, isLost, position, told, read));
              });
    }

    /**
     * Finds out whether what a reader that comes from a position has of a stored feed is void. A
     * feed that was removed before the database came was never read here.
     */
    private static CompletableFuture<Boolean> findLostFeed(
        ReadTransaction tx, DatabaseHandle db, FeedOptions here, StorePosition position) {
      return here.filter() instanceof FeedFilter.OfFeed some
          ? some.removedAt(tx, db)
              .thenApply(
                  removal ->
                      !db.incarnations().isOfHistory(removal)
                          && position.isBefore(db.incarnations().placeOf(removal)))
          : CompletableFuture.completedFuture(false);
    }

    /**
     * Reads what could not be started without waiting: the shards of databases that have several.
     */
    void begin() {
      if (entries == null) {
        read(told, FIRST_BATCH);
      }
    }

    private void read(Optional<Sequence> after, int count) {
      Stretch next = new EntryReader(tx, db, options.departing()).oldest(after, count, () -> false);
      entries = next.entries();
      departures = next.departures();
    }

    boolean hasLostFeed() {
      return hasLostFeed;
    }

    FeedOptions options() {
      return options;
    }

    Departures departures() {
      return departures;
    }

    DatabaseHandle handle() {
      return db;
    }

    boolean hasNext() {
      return at < entries.size();
    }

    /** Returns the position behind its next change. */
    StorePosition next() {
      return behind(entries.get(at));
    }

    /** Returns the reader's position behind one of its changes. */
    StorePosition behind(ChangeEntry entry) {
      return reader.movedTo(db, entry.sequence());
    }

    /** Returns its next changes that come before {@code end}. */
    List<ChangeEntry> before(StorePosition end) {
      int to = at;
      while (to < entries.size() && behind(entries.get(to)).compareTo(end) < 0) {
        to++;
      }
      return entries.subList(at, to);
    }

    /**
     * Skips the next changes, and reads more if none are left.
     *
     * @param wanted how many more changes may be needed
     * @param alone whether no other database has changes in between, so that all are read at once
     */
    void skip(int count, int wanted, boolean alone) {
      at += count;
      if (!hasNext() && entries.size() == batch && wanted > 0) {
        readOn(alone ? wanted : Math.min(wanted, Math.min(LARGEST_BATCH, 2 * batch)));
      }
    }

    private void readOn(int count) {
      Sequence last = entries.get(entries.size() - 1).sequence();
      read(Optional.of(last), count);
      batch = count;
      at = 0;
    }

    /**
     * Returns the candidate for its remaining changes when a page is full; empty if there are none.
     */
    Optional<Candidate> rest() {
      if (hasNext()) {
        return Optional.of(Candidate.changes(db.name(), next().at()));
      }
      boolean mayHaveMore = !entries.isEmpty() && entries.size() == batch;
      return mayHaveMore
          ? Optional.of(
              Candidate.changes(db.name(), behind(entries.get(entries.size() - 1)).next()))
          : Optional.empty();
    }

    @Override
    public int compareTo(OpenDatabase other) {
      return next().compareTo(other.next());
    }
  }
}
