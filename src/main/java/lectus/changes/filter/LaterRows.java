package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.derived.DerivedSet;
import lectus.derived.EditWork;
import lectus.derived.StoredFeed;
import lectus.derived.rows.Belonging;
import lectus.derived.rows.Belonging.Standing;
import lectus.derived.rows.FeedRemovalsSubspace;
import lectus.derived.rows.FeedRemovalsSubspace.Departure;
import lectus.document.read.SelectedDocuments;
import lectus.json.LeafView;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Tells whether somebody who reads several channels has a later row of a document that has left one
 * of them: then the reader must not hear that it has left. Reading newest first it would hear that
 * last.
 */
final class LaterRows {
  private final ReadTransaction tx;
  private final StoredFeed feed;
  private final RevisionsSubspace revisions;
  private final FeedRemovalsSubspace departures;
  private final SelectedDocuments documents;

  LaterRows(ReadTransaction tx, DatabaseHandle db, StoredFeed feed) {
    this.tx = tx;
    this.feed = feed;
    this.revisions = new RevisionsSubspace(db);
    this.departures = new FeedRemovalsSubspace(db, feed);
    this.documents = new SelectedDocuments(tx, db, DerivedSet.reads(List.of(feed)));
  }

  /**
   * Whether the reader is shown a later row of the document.
   *
   * @param left the entry of a document that has left a channel
   */
  boolean follow(ChangeEntry left, FeedView view) {
    if (view.channels().size() == 1) {
      return false;
    }
    List<EditBranch> branches = Awaiting.await(revisions.branches(tx, left.docId()));
    return !branches.isEmpty()
        && branches.get(0).winner().sequence().compareTo(left.sequence()) > 0
        && (hasLeftLater(left, branches.get(0), view) || isShown(left.docId(), branches, view));
  }

  private boolean hasLeftLater(ChangeEntry left, EditBranch winner, FeedView view) {
    return Awaiting.await(departures.all(tx, left.docId())).stream()
        .filter(it -> view.channels().contains(it.channel()))
        .map(Departure::sequence)
        .filter(it -> it.compareTo(left.sequence()) > 0)
        .anyMatch(it -> view.filter().left() || isOfDeletion(it, winner));
  }

  /** Who does not ask for documents that have left is told of deletions only. */
  private static boolean isOfDeletion(Sequence departed, EditBranch winner) {
    return winner.deleted() && departed.equals(winner.winner().sequence());
  }

  /** A losing leaf makes a row, unless only winners are shown and there is one. */
  private boolean isShown(String docId, List<EditBranch> branches, FeedView view) {
    boolean losersCount = view.allLeaves() || view.filter().left() || branches.get(0).deleted();
    return Belonging.of(feed, views(docId, branches), new EditWork(docId))
        .channels()
        .entrySet()
        .stream()
        .filter(it -> view.channels().contains(it.getKey()))
        .anyMatch(it -> losersCount || it.getValue() == Standing.MEMBER);
  }

  /** Returns the leaves that are in one of the channels: the winner would be first. */
  List<RevisionId> leaves(String docId, FeedView view) {
    List<EditBranch> branches = Awaiting.await(revisions.branches(tx, docId));
    List<Set<String>> ofEach =
        Belonging.of(feed, views(docId, branches), EditWork.ofReader(docId)).ofEach();
    List<RevisionId> found = new ArrayList<>();
    for (int i = 0; i < ofEach.size(); i++) {
      if (!Collections.disjoint(view.channels(), ofEach.get(i))) {
        found.add(branches.get(i).leaf());
      }
    }
    return found;
  }

  private List<LeafView> views(String docId, List<EditBranch> branches) {
    return branches.stream()
        .map(it -> documents.start(docId, it.deleted(), it.leaf()))
        .toList()
        .stream()
        .map(documents::leaves)
        .toList();
  }
}
