package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.log.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.revision.RevisionId;
import lectus.storedfeed.FeedEntry;
import lectus.storedfeed.Standing;

/**
 * The entries of a stored feed that a reader sees. Only documents with conflicts have to be read,
 * to find out which of their leaves are shown, and those that have left one of several channels: as
 * many as one transaction has time for.
 */
public final class StoredEntries implements PassingEntries {
  private final FeedView view;
  private final List<FeedEntry> entries;
  private final LaterRows laterRows;
  private final PageTime time = new PageTime();
  private int lookedAt;
  private Passing next;

  public StoredEntries(
      ReadTransaction tx, DatabaseHandle db, FeedView view, List<FeedEntry> entries) {
    this.view = view;
    this.entries = entries;
    this.laterRows = new LaterRows(tx, db, view.feed());
  }

  @Override
  public boolean hasNext() {
    while (next == null && mayGoOn()) {
      next = row(entries.get(lookedAt)).orElse(null);
      lookedAt++;
    }
    return next != null;
  }

  private boolean mayGoOn() {
    return lookedAt < entries.size() && (lookedAt == 0 || !time.isUp());
  }

  @Override
  public Passing next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Passing passing = next;
    next = null;
    return passing;
  }

  /** The entry that {@link #hasNext} has found counts once it was returned. */
  @Override
  public int lookedAt() {
    return next == null ? lookedAt : lookedAt - 1;
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
