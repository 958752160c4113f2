package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.document.feed.FeedEntry;
import lectus.document.feed.Standing;
import lectus.document.read.SelectedDocuments;
import lectus.feed.filter.FeedView;
import lectus.feed.filter.PassingEntries;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * The entries of a stored feed that a reader sees. Only documents with conflicts have to be read,
 * to find out which of their leaves are shown.
 */
final class StoredEntries implements PassingEntries {
  private final ReadTransaction tx;
  private final FeedView view;
  private final List<FeedEntry> entries;
  private final SelectedDocuments documents;
  private final RevisionsSubspace revisions;
  private int lookedAt;
  private Passing next;

  StoredEntries(ReadTransaction tx, DatabaseHandle db, FeedView view, List<FeedEntry> entries) {
    this.tx = tx;
    this.view = view;
    this.entries = entries;
    this.documents = new SelectedDocuments(tx, db, view.feed().channels().reads());
    this.revisions = new RevisionsSubspace(db);
  }

  @Override
  public boolean hasNext() {
    while (next == null && lookedAt < entries.size()) {
      next = row(entries.get(lookedAt)).orElse(null);
      lookedAt++;
    }
    return next != null;
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
    boolean showsLeaves =
        view.allLeaves() && entry.branchCount() > 1 && each.standing() != Standing.LEFT;
    return view.row(
        entry, each.standing(), showsLeaves ? Optional.of(inChannels(entry)) : Optional.empty());
  }

  private List<RevisionId> inChannels(ChangeEntry entry) {
    List<EditBranch> branches = Awaiting.await(revisions.branches(tx, entry.docId()));
    List<SelectedDocuments.Started> started = new ArrayList<>(branches.size());
    for (EditBranch branch : branches) {
      started.add(documents.start(entry.docId(), branch.deleted(), branch.leaf()));
    }
    List<RevisionId> found = new ArrayList<>();
    for (int i = 0; i < branches.size(); i++) {
      boolean isIn =
          !Collections.disjoint(
              view.channels(),
              view.feed().channels().of(documents.leaves(started.get(i)), entry.docId()));
      if (isIn) {
        found.add(branches.get(i).leaf());
      }
    }
    return found;
  }
}
