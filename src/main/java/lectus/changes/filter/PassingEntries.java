package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.log.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.revision.RevisionId;

/** The entries of a page that a filter accepts, in order. */
public interface PassingEntries {
  /**
   * @param allLeaves whether every leaf of a document is shown; a selector then matches each leaf
   * @param departures those of the entries at which documents have left stored feeds
   */
  static PassingEntries of(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedFilter filter,
      boolean allLeaves,
      List<ChangeEntry> entries,
      Departures departures) {
    if (filter instanceof FeedFilter.OfFeed feed) {
      return feed.feed().isPresent()
          ? new MatchedEntries(tx, db, new FeedView(feed, allLeaves), entries, departures)
          : new EntriesById(entries, none -> false);
    }
    return filter instanceof FeedFilter.Selected some
        ? new SelectedEntries(tx, db, some.selector(), allLeaves, entries)
        : new EntriesById(entries, filter::passes);
  }

  boolean hasNext();

  Passing next();

  /**
   * Returns the number of entries examined: up to and including the last one returned or, if there
   * was no next one, all entries known not to pass.
   */
  int lookedAt();

  /**
   * @param revisions the leaves to show; empty for those of the feed's style
   * @param left whether the document is shown because it has left a stored feed
   */
  record Passing(ChangeEntry entry, Optional<List<RevisionId>> revisions, boolean left) {
    Passing(ChangeEntry entry, Optional<List<RevisionId>> revisions) {
      this(entry, revisions, false);
    }
  }

  /** Filters entries by their documents' ids. */
  final class EntriesById implements PassingEntries {
    private final List<ChangeEntry> entries;
    private final Predicate<String> passes;
    private int lookedAt;

    EntriesById(List<ChangeEntry> entries, Predicate<String> passes) {
      this.entries = entries;
      this.passes = passes;
    }

    @Override
    public boolean hasNext() {
      while (lookedAt < entries.size() && !passes.test(entries.get(lookedAt).docId())) {
        lookedAt++;
      }
      return lookedAt < entries.size();
    }

    @Override
    public Passing next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return new Passing(entries.get(lookedAt++), Optional.empty());
    }

    @Override
    public int lookedAt() {
      return lookedAt;
    }
  }
}
