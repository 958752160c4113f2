package lectus.feed.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.revision.RevisionId;

/** The entries of a page that a filter lets through, in their order. */
public interface PassingEntries {
  /**
   * @param allLeaves whether every leaf of a document is shown, where a selector matches leaves
   */
  static PassingEntries of(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedFilter filter,
      boolean allLeaves,
      List<ChangeEntry> entries) {
    return filter instanceof FeedFilter.Selected some
        ? new SelectedEntries(tx, db, some.selector(), allLeaves, entries)
        : new EntriesById(entries, filter::passes);
  }

  boolean hasNext();

  Passing next();

  /**
   * How many entries come before the next call's: up to and with the one given out last, or, when
   * there was no next one, all of which it is known.
   */
  int lookedAt();

  /**
   * @param revisions the leaves that are shown; empty for those that the feed's style shows
   */
  record Passing(ChangeEntry entry, Optional<List<RevisionId>> revisions) {}
}
