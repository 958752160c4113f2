package lectus.feed.many;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.document.PageLimits;
import lectus.feed.LivePage;
import lectus.feed.PageTime;
import lectus.feed.RowsBuilder;
import lectus.feed.filter.FeedFilter;
import lectus.feed.page.EntryReader;
import lectus.feed.page.FeedOptions;
import lectus.feed.page.PageRows;
import lectus.feed.page.RowFrame;
import lectus.feed.updates.StorePosition;
import lectus.store.Reads;
import lectus.store.Versionstamp;

/**
 * Merges the changes of the candidates in the order of the store, at one read version as of which
 * they are complete. Only where each candidate begins is held in memory; entries are read of the
 * one that comes first, up to where the next begins.
 */
final class CandidateMerge {
  private final ReadTransaction tx;
  private final Candidates candidates;
  private final Heads heads;
  private final FeedOptions options;
  private final PageLimits limits;
  private final PageTime time;
  private final RowsBuilder<StorePosition> rows = new RowsBuilder<>(512);
  private Versionstamp position;
  private long limit;
  private int lookedAt;

  CandidateMerge(
      ReadTransaction tx,
      Candidates candidates,
      Heads heads,
      FeedOptions options,
      PageLimits limits,
      PageTime time) {
    this.tx = tx;
    this.candidates = candidates;
    this.heads = heads;
    this.options = options;
    this.limits = limits;
    this.time = time;
  }

  /**
   * The rows behind {@code from}. A page that has none and does not move is to be asked for again,
   * in another transaction.
   *
   * @param limit rows at most
   */
  LivePage<StorePosition> page(StorePosition from, long limit) {
    this.position = from.at();
    this.limit = limit;
    boolean more = true;
    while (more && !isFull()) {
      more = candidates.peek() != null && takeFirst();
    }
    boolean reachedEnd = candidates.peek() == null && !candidates.isAtHorizon();
    if (reachedEnd) {
      position = later(position, Versionstamp.upTo(Reads.await(tx.getReadVersion())));
    } else if (candidates.isAtHorizon()) {
      position = later(position, candidates.horizon().predecessor());
    }
    long pending = reachedEnd ? 0 : Math.max(1, candidates.size());
    return new LivePage<>(
        rows.build(), new StorePosition(position), reachedEnd, pending, Optional.empty());
  }

  private static Versionstamp later(Versionstamp one, Versionstamp other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  private boolean isFull() {
    return rows.size() >= limit
        || lookedAt >= limits.rows(options.includeDocs())
        || rows.json().length() >= limits.bytes()
        || lookedAt > 0 && time.isUp();
  }

  /** False if another transaction has to go on. */
  private boolean takeFirst() {
    Candidate first = candidates.peek();
    if (first.kind() == Candidate.Kind.SOMEWHERE && candidates.size() > 1) {
      return heads.lookUp(candidates);
    }
    candidates.poll();
    if (first.kind() == Candidate.Kind.END) {
      position = first.atLeast();
      rows.endRow(new StorePosition(position), first.name());
    } else {
      heads.database(first).ifPresent(db -> takeChanges(first, db));
    }
    return true;
  }

  private void takeChanges(Candidate candidate, DatabaseHandle db) {
    int batch = batch(candidate);
    Optional<Sequence> after = Optional.of(new Sequence(db.incarnation(), position.bytes()));
    List<ChangeEntry> read = new EntryReader(tx, db).oldest(after, batch);
    List<ChangeEntry> first = read.subList(0, beforeOthers(read));
    PageRows.Progress progress =
        new PageRows(tx, db, options, rows.json(), new Frame(db.name()), limits.bytes())
            .append(first, limit - rows.size());
    lookedAt += progress.lookedAt();
    if (progress.lookedAt() > 0) {
      position = versionstamp(first.get(progress.lookedAt() - 1));
    }
    if (progress.lookedAt() < read.size()) {
      candidates.add(candidate.firstAt(versionstamp(read.get(progress.lookedAt()))));
    } else if (read.size() == batch) {
      candidates.add(candidate.goingOnBehind(position));
    }
  }

  /** Without others to compare with, what the page has room for is read at once. */
  private int batch(Candidate candidate) {
    boolean eachIsShown = options.filter() instanceof FeedFilter.None;
    long room = limits.rows(options.includeDocs()) - lookedAt;
    long useful = eachIsShown ? Math.min(room, limit - rows.size()) : room;
    return (int) (candidates.peek() == null ? useful : Math.min(useful, candidate.batch()));
  }

  /** How many of the entries come before everything that other candidates may have. */
  private int beforeOthers(List<ChangeEntry> entries) {
    Candidate next = candidates.peek();
    Versionstamp end = next == null ? candidates.horizon() : next.atLeast();
    int count = 0;
    while (count < entries.size() && versionstamp(entries.get(count)).compareTo(end) < 0) {
      count++;
    }
    return count;
  }

  private static Versionstamp versionstamp(ChangeEntry entry) {
    return new Versionstamp(entry.sequence().versionstamp());
  }

  /** Ends each row with its point in the store's order. */
  private final class Frame implements RowFrame {
    private final DatabaseName database;

    Frame(DatabaseName database) {
      this.database = database;
    }

    @Override
    public void before(int row) {}

    @Override
    public void after(Sequence row) {
      rows.endRow(new StorePosition(new Versionstamp(row.versionstamp())), database);
    }
  }
}
