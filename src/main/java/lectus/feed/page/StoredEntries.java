package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.document.feed.FeedEntry;
import lectus.document.feed.Standing;
import lectus.feed.PageTime;
import lectus.feed.filter.FeedView;
import lectus.feed.filter.PassingEntries;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/**
 * The entries of a stored feed that a reader sees. Only documents with conflicts have to be read,
 * to find out which of their leaves are shown, and those that have left one of several channels: as
 * many as one transaction has time for.
 */
final class StoredEntries implements PassingEntries {
  private final FeedView view;
  private final List<FeedEntry> entries;
  private final LeavesInChannels leaves;
  private final LaterRows laterRows;
  private final PageTime time = new PageTime();
  private int lookedAt;
  private Passing next;

  StoredEntries(ReadTransaction tx, DatabaseHandle db, FeedView view, List<FeedEntry> entries) {
    this.view = view;
    this.entries = entries;
    this.leaves = new LeavesInChannels(tx, db, view);
    this.laterRows = new LaterRows(tx, db, view, leaves);
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
    Optional<Passing> row =
        view.row(
            entry,
            each.standing(),
            showsLeaves ? Optional.of(inChannels(entry)) : Optional.empty());
    return row.filter(it -> !(hasLeft && laterRows.follow(entry)));
  }

  private List<RevisionId> inChannels(ChangeEntry entry) {
    return leaves.of(entry.docId()).stream().map(EditBranch::leaf).toList();
  }
}
