package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.feed.FeedDeparturesSubspace;
import lectus.document.feed.FeedDeparturesSubspace.Departure;
import lectus.feed.filter.FeedView;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Tells whoever reads several channels of a document that has left one of them and has a later row
 * in another: then he must not hear that it has left. Reading newest first he would hear that last.
 */
final class LaterRows {
  private final ReadTransaction tx;
  private final FeedView view;
  private final RevisionsSubspace revisions;
  private final FeedDeparturesSubspace departures;
  private final LeavesInChannels leaves;

  LaterRows(ReadTransaction tx, DatabaseHandle db, FeedView view, LeavesInChannels leaves) {
    this.tx = tx;
    this.view = view;
    this.revisions = new RevisionsSubspace(db);
    this.departures = new FeedDeparturesSubspace(db, view.feed());
    this.leaves = leaves;
  }

  /**
   * Whether the reader is shown a later row of the document.
   *
   * @param left the entry of a document that has left a channel
   */
  boolean follow(ChangeEntry left) {
    if (view.channels().size() == 1) {
      return false;
    }
    Optional<EditBranch> winner = Awaiting.await(revisions.winner(tx, left.docId()));
    return winner.isPresent()
        && winner.get().winner().sequence().compareTo(left.sequence()) > 0
        && (hasLeftLater(left, winner.get()) || isThere(left.docId()));
  }

  private boolean hasLeftLater(ChangeEntry left, EditBranch winner) {
    return Awaiting.await(departures.all(tx, left.docId())).stream()
        .filter(it -> !it.isLast() && view.channels().containsAll(it.channels()))
        .map(Departure::sequence)
        .filter(it -> it.compareTo(left.sequence()) > 0)
        .anyMatch(it -> view.filter().left() || isOfDeletion(it, winner));
  }

  /** Who does not ask for documents that have left is told of deletions only. */
  private static boolean isOfDeletion(Sequence departed, EditBranch winner) {
    return winner.deleted() && departed.equals(winner.winner().sequence());
  }

  /** A losing leaf makes a row of its own, unless only winners are shown. */
  private boolean isThere(String docId) {
    List<EditBranch> found = leaves.of(docId);
    boolean losersCount = view.allLeaves() || view.filter().left();
    return found.stream().anyMatch(it -> losersCount || it.isWinner());
  }
}
