package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.filter.FeedMatch.FeedReaders;
import lectus.changes.filter.FilterIndex.EntryMatch;
import lectus.changes.log.ChangeEntry;
import lectus.database.DatabaseHandle;

/**
 * Filters entries of the changes index as a stored feed does, by looking at their documents: where
 * the feed itself cannot be read.
 */
final class MatchedEntries implements PassingEntries {
  /** Documents whose reads are started together. */
  private static final int TOGETHER = 64;

  private final List<ChangeEntry> entries;
  private final Departures departures;
  private final FeedMatch<FeedView> match;
  private final PageTime time = new PageTime();
  private final Deque<FeedMatch.Started> reading = new ArrayDeque<>();
  private int started;
  private int matched;
  private int lookedAt;
  private Passing next;

  MatchedEntries(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedView view,
      List<ChangeEntry> entries,
      Departures departures) {
    FeedReaders<FeedView> readers = new FeedReaders<>();
    readers.add(view, view.filter(), view.allLeaves());
    this.entries = entries;
    this.departures = departures;
    this.match = FeedMatch.of(readers, tx, db, List.of(view.feed()));
  }

  @Override
  public boolean hasNext() {
    while (next == null && mayGoOn()) {
      next = matchNext().orElse(null);
      matched++;
    }
    if (next == null) {
      lookedAt = matched;
    }
    return next != null;
  }

  private boolean mayGoOn() {
    boolean isSpent =
        matched > 0 && (match.bytesRead() >= SelectedEntries.MAX_BYTES || time.isUp());
    return matched < entries.size() && !isSpent;
  }

  private Optional<Passing> matchNext() {
    if (reading.isEmpty()) {
      int end = Math.min(entries.size(), started + TOGETHER);
      entries.subList(started, end).forEach(entry -> reading.add(match.start(entry, departures)));
      started = end;
    }
    Found found = new Found();
    match.finish(reading.remove(), found);
    return Optional.ofNullable(found.row);
  }

  @Override
  public Passing next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Passing passing = next;
    next = null;
    lookedAt = matched;
    return passing;
  }

  @Override
  public int lookedAt() {
    return lookedAt;
  }

  private static final class Found implements EntryMatch.Outcome<FeedView> {
    private Passing row;

    @Override
    public void passes(FeedView who, Passing found) {
      row = found;
    }

    @Override
    public void fails(FeedView who, Throwable failure) {
      throw failure instanceof RuntimeException known ? known : new IllegalStateException(failure);
    }

    @Override
    public void waits(FeedView who) {
      throw new IllegalStateException("Nobody else waits");
    }
  }
}
