package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.derived.rows.Belonging.Standing;
import lectus.derived.rows.FeedEntriesSubspace.FeedEntry;
import lectus.revision.RevisionId;

/**
 * The entries of a stored feed that a reader sees. Only documents with conflicts have to be read,
 * to find out which of their leaves are shown, and those that have left one of several channels: as
 * many as one transaction has time for.
 */
public final class StoredEntries extends PassingEntries {
  private final FeedView view;
  private final List<FeedEntry> entries;
  private final LaterRows laterRows;
  private final PageTime time = new PageTime();

  public StoredEntries(
      ReadTransaction tx, DatabaseHandle db, FeedView view, List<FeedEntry> entries) {
    this.view = view;
    this.entries = entries;
    this.laterRows = new LaterRows(tx, db, view.feed());
  }

  @Override
  boolean mayGoOn(int examined) {
    return examined < entries.size() && (examined == 0 || !time.isUp());
  }

  @Override
  Passing examine(int number) {
    return row(entries.get(number)).orElse(null);
  }

  private Optional<Passing> row(FeedEntry each) {
    ChangeEntry entry = each.entry();
    boolean hasLeft = each.standing() == Standing.LEFT;
    boolean showsLeaves = view.allLeaves() && entry.branchCount() > 1 && !hasLeft;
    Optional<List<RevisionId>> leaves =
        showsLeaves ? Optional.of(laterRows.leaves(entry.docId(), view)) : Optional.empty();
    return view.row(entry, each.standing(), leaves)
        .filter(it -> !(hasLeft && laterRows.follow(entry, view)));
  }
}
