package lectus.changes.notify;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.BiPredicate;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.notify.CandidateQueue.Candidate;
import lectus.changes.notify.OpenDatabases.OpenDatabase;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.LivePage;
import lectus.changes.page.PageRows;
import lectus.changes.page.PageRows.RowFrame;
import lectus.changes.page.Rows.RowsBuilder;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.document.RowParts.PageLimits;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * Merges the candidates' changes in the order of the store, at one read version as of which they
 * are complete. Only the databases with the next changes are open while a page is built. For all
 * others, and after the page for these too, only the point at which each begins is kept in memory.
 */
final class CandidateMerge {
  private final ReadTransaction tx;
  private final CandidateQueue candidates;
  private final OpenDatabases openings;
  private final BiPredicate<DatabaseName, StorePosition> isShown;
  private final FeedOptions options;
  private final PageLimits limits;
  private final PageTime time;
  private final RowsBuilder<StorePosition> rows = new RowsBuilder<>(512);
  private final PriorityQueue<OpenDatabase> open = new PriorityQueue<>();

  /** Candidates removed from the queue; put back if this transaction fails. */
  private final List<Candidate> taken = new ArrayList<>();

  private StorePosition from;
  private StorePosition position;
  private long limit;
  private int lookedAt;
  private long shown;

  /** Whether there are changes for which the limit has no room. */
  private boolean isHeldUp;

  /**
   * @param isShown whether the end of a database at a point is told
   */
  CandidateMerge(
      ReadTransaction tx,
      CandidateQueue candidates,
      OpenDatabases openings,
      BiPredicate<DatabaseName, StorePosition> isShown,
      FeedOptions options,
      PageLimits limits,
      PageTime time) {
    this.tx = tx;
    this.candidates = candidates;
    this.openings = openings;
    this.isShown = isShown;
    this.options = options;
    this.limits = limits;
    this.time = time;
  }

  /**
   * Returns the rows after {@code from}. It may return none before the end if this transaction did
   * not reach the first row. If it fails, the candidates are unchanged.
   *
   * @param limit maximum number of changes; that a database is gone is none
   */
  LivePage<StorePosition> page(StorePosition from, long limit) {
    this.from = from;
    this.position = from;
    this.limit = limit;
    boolean done = false;
    try {
      long readVersion = Awaiting.await(tx.getReadVersion());
      while (!isFull() && takeNext()) {}
      done = true;
      return end(readVersion);
    } finally {
      if (!done) {
        taken.forEach(candidates::add);
      }
    }
  }

  boolean isHeldUp() {
    return isHeldUp;
  }

  private LivePage<StorePosition> end(long readVersion) {
    open.forEach(db -> db.rest().ifPresent(candidates::add));
    boolean reachedEnd = candidates.peek() == null && !candidates.isAtHorizon();
    if (reachedEnd) {
      position = later(position, from.movedTo(Versionstamp.upTo(readVersion)));
    } else if (candidates.isAtHorizon()) {
      position = later(position, from.movedTo(candidates.horizon().predecessor()));
    }
    long pending = reachedEnd ? 0 : Math.max(1, candidates.size());
    return new LivePage<>(rows.build(), position, reachedEnd, pending, Optional.empty());
  }

  private static StorePosition later(StorePosition one, StorePosition other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  private boolean isFull() {
    return lookedAt >= limits.rows(options.includeDocs())
        || rows.json().length() >= limits.bytes()
        || (lookedAt > 0 && time.isUp());
  }

  /** Returns false if there is nothing more, or if another transaction has to continue. */
  private boolean takeNext() {
    Candidate first = candidates.peek();
    StorePosition end = from.movedTo(first == null ? candidates.horizon() : first.atLeast());
    if (!open.isEmpty() && open.peek().next().compareTo(end) < 0) {
      if (shown < limit) {
        takeChanges(end);
        return true;
      }
      isHeldUp = true;
      return false;
    }
    if (first == null) {
      return false;
    }
    if (first.kind() == Candidate.Kind.END) {
      taken.add(candidates.poll());
      lookedAt++;
      position = end;
      if (isShown.test(first.name(), position)) {
        rows.endRow(position, first.name());
      }
      return true;
    }
    // A page that is full of changes ends before it opens more databases.
    return (shown < limit || limit == 0) && openFirst();
  }

  /** Opens the first candidate, together with the next ones whose beginning is unknown. */
  private boolean openFirst() {
    if (openings.isOver()) {
      return false;
    }
    int before = taken.size();
    int most = openings.atOnce();
    do {
      taken.add(candidates.poll());
    } while (taken.size() - before < most && isUnknown(candidates.peek()));
    open.addAll(openings.open(taken.subList(before, taken.size())));
    return true;
  }

  private static boolean isUnknown(Candidate candidate) {
    return candidate != null && candidate.kind() == Candidate.Kind.SOMEWHERE;
  }

  /** Takes changes of the first open database, up to where others may have some. */
  private void takeChanges(StorePosition candidatesBegin) {
    OpenDatabase db = open.poll();
    StorePosition end = candidatesBegin;
    if (!open.isEmpty() && open.peek().next().compareTo(end) < 0) {
      end = open.peek().next();
    }
    List<ChangeEntry> next = db.before(end);
    PageRows.Progress progress =
        new PageRows(
                tx, db.handle(), db.options(), rows.json(), new Frame(db.handle()), limits.bytes())
            .append(next, db.departures(), limit - shown);
    lookedAt += progress.lookedAt();
    shown += progress.rows();
    if (progress.lookedAt() > 0) {
      position = db.behind(next.get(progress.lookedAt() - 1));
    }
    boolean alone = open.isEmpty() && candidates.peek() == null;
    db.skip(progress.lookedAt(), room(), alone);
    if (db.hasNext()) {
      open.add(db);
    } else {
      db.rest().ifPresent(candidates::add);
    }
  }

  /** Returns how many more changes this page may examine. */
  private int room() {
    boolean eachIsShown = options.filter() instanceof FeedFilter.None;
    long room = limits.rows(options.includeDocs()) - lookedAt;
    return (int) Math.max(0, eachIsShown ? Math.min(room, limit - shown) : room);
  }

  /** Ends each row with its point in the store's order. */
  private final class Frame implements RowFrame {
    private final DatabaseHandle database;

    Frame(DatabaseHandle database) {
      this.database = database;
    }

    @Override
    public void before(int row) {}

    @Override
    public void after(Sequence row) {
      rows.endRow(from.movedTo(database, row), database.name());
    }
  }
}
