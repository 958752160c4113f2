package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import lectus.database.DatabaseHandle;
import lectus.document.read.SelectedDocuments;
import lectus.feed.filter.FeedView;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Finds the leaves of documents that are in one of the channels that are read. */
final class LeavesInChannels {
  private final ReadTransaction tx;
  private final FeedView view;
  private final SelectedDocuments documents;
  private final RevisionsSubspace revisions;

  LeavesInChannels(ReadTransaction tx, DatabaseHandle db, FeedView view) {
    this.tx = tx;
    this.view = view;
    this.documents = new SelectedDocuments(tx, db, view.feed().channels().reads());
    this.revisions = new RevisionsSubspace(db);
  }

  /** Returns them in the order of branches: the winner would be first. */
  List<EditBranch> of(String docId) {
    List<EditBranch> branches = Awaiting.await(revisions.branches(tx, docId));
    List<SelectedDocuments.Started> started = new ArrayList<>(branches.size());
    for (EditBranch branch : branches) {
      started.add(documents.start(docId, branch.deleted(), branch.leaf()));
    }
    List<EditBranch> found = new ArrayList<>();
    for (int i = 0; i < branches.size(); i++) {
      boolean isIn =
          !Collections.disjoint(
              view.channels(), view.feed().channels().of(documents.leaves(started.get(i)), docId));
      if (isIn) {
        found.add(branches.get(i));
      }
    }
    return found;
  }
}
