package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.filter.FeedMatch.FeedReaders;
import lectus.changes.filter.FilterIndex.EntryMatch;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.revision.RevisionId;

/** The entries of a page that a filter accepts, in order. */
public abstract class PassingEntries {
  /** Number of entries examined, of which the last one may be {@link #next}. */
  private int examined;

  private int lookedAt;
  private Passing next;

  /**
   * @param revisions the leaves to show; empty for those of the feed's style
   * @param left whether the document is shown because it has left a stored feed
   */
  public record Passing(ChangeEntry entry, Optional<List<RevisionId>> revisions, boolean left) {
    Passing(ChangeEntry entry, Optional<List<RevisionId>> revisions) {
      this(entry, revisions, false);
    }
  }

  /**
   * @param allLeaves whether every leaf of a document is shown; a selector then matches each leaf
   * @param departures those of the entries at which documents have left stored feeds
   */
  public static PassingEntries of(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedFilter filter,
      boolean allLeaves,
      List<ChangeEntry> entries,
      Departures departures) {
    if (filter instanceof FeedFilter.OfFeed feed) {
      return feed.feed().isPresent()
          ? new Matched(tx, db, new FeedView(feed, allLeaves), entries, departures)
          : new ById(entries, none -> false);
    }
    return filter instanceof FeedFilter.Selected some
        ? new SelectedEntries(tx, db, some.selector(), allLeaves, entries)
        : new ById(entries, filter::passes);
  }

  /**
   * Whether a next entry is to be examined.
   *
   * @param examined number of entries examined so far
   */
  abstract boolean mayGoOn(int examined);

  /** Examines the entry of this number; returns null if it does not pass. */
  abstract Passing examine(int number);

  /** Called when no further entry passes. */
  void done() {}

  public final boolean hasNext() {
    while (next == null && mayGoOn(examined)) {
      next = examine(examined);
      examined++;
    }
    if (next == null) {
      done();
      lookedAt = examined;
    }
    return next != null;
  }

  public final Passing next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Passing passing = next;
    next = null;
    lookedAt = examined;
    return passing;
  }

  /**
   * Returns the number of entries examined: up to and including the last one returned or, if there
   * was no next one, all entries known not to pass.
   */
  public final int lookedAt() {
    return lookedAt;
  }

  private static final class ById extends PassingEntries {
    private final List<ChangeEntry> entries;
    private final Predicate<String> passes;

    ById(List<ChangeEntry> entries, Predicate<String> passes) {
      this.entries = entries;
      this.passes = passes;
    }

    @Override
    boolean mayGoOn(int examined) {
      return examined < entries.size();
    }

    @Override
    Passing examine(int number) {
      ChangeEntry entry = entries.get(number);
      return passes.test(entry.docId()) ? new Passing(entry, Optional.empty()) : null;
    }
  }

  /**
   * Filters entries of the changes index as a stored feed does, by looking at their documents:
   * where the feed itself cannot be read.
   */
  private static final class Matched extends PassingEntries
      implements EntryMatch.Outcome<FeedView> {
    /** Documents whose reads are started together. */
    private static final int TOGETHER = 64;

    private final List<ChangeEntry> entries;
    private final Departures departures;
    private final FeedMatch<FeedView> match;
    private final PageTime time = new PageTime();
    private final Deque<FeedMatch.Started> reading = new ArrayDeque<>();
    private Passing found;

    Matched(
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
    boolean mayGoOn(int examined) {
      boolean isSpent =
          examined > 0 && (match.bytesRead() >= SelectedEntries.MAX_BYTES || time.isUp());
      return examined < entries.size() && !isSpent;
    }

    @Override
    Passing examine(int number) {
      if (reading.isEmpty()) {
        int end = Math.min(entries.size(), number + TOGETHER);
        entries.subList(number, end).forEach(entry -> reading.add(match.start(entry, departures)));
      }
      found = null;
      match.finish(reading.remove(), this);
      return found;
    }

    @Override
    public void passes(FeedView who, Passing row) {
      found = row;
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
