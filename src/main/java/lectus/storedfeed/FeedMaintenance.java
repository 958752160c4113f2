package lectus.storedfeed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.database.DatabaseHandle;
import lectus.document.read.SelectedDocuments;
import lectus.json.ExplodedBody;
import lectus.json.LeafView;
import lectus.mango.selector.EditWork;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.storedfeed.DocumentLeaves.Leaf;

/**
 * Keeps the stored feeds of a database up to date, in the transaction that writes its documents.
 * Where a document was until then follows from its former leaves, which are read: only databases
 * with stored feeds pay for it. A document with conflicts is in the channels of all its leaves, so
 * all of these are read.
 */
public final class FeedMaintenance {
  private final ReadTransaction tx;
  private final RevisionsSubspace revisions;
  private final SelectedDocuments documents;
  private final List<FeedDelta> feeds;

  public FeedMaintenance(ReadTransaction tx, DatabaseHandle db) {
    this.tx = tx.snapshot();
    this.revisions = new RevisionsSubspace(db);
    this.documents = DocumentLeaves.reading(tx, db, db.feeds().reads());
    this.feeds = db.feeds().all().stream().map(feed -> new FeedDelta(tx, db, feed)).toList();
  }

  /** An edit whose reads have begun. */
  public static final class Started {
    private final String id;
    private final BranchUpdate update;
    private final Map<RevisionId, ExplodedBody> bodies;
    private final DocumentLeaves leaves;
    private List<Belonging> afterwards;

    /** Null if there was at most one leaf. */
    private final CompletableFuture<List<EditBranch>> branches;

    private Started(
        String id,
        BranchUpdate update,
        Map<RevisionId, ExplodedBody> bodies,
        DocumentLeaves leaves,
        CompletableFuture<List<EditBranch>> branches) {
      this.id = id;
      this.update = update;
      this.bodies = bodies;
      this.leaves = leaves;
      this.branches = branches;
    }

    private List<EditBranch> before() {
      return branches == null ? update.formerWinner().stream().toList() : Awaiting.await(branches);
    }

    /** Returns the leaves afterwards, the winner first; none of a document that is purged. */
    private List<EditBranch> after(List<EditBranch> before) {
      Set<Leaf> gone = update.cleared().stream().map(Leaf::of).collect(Collectors.toSet());
      Map<Leaf, EditBranch> after = new LinkedHashMap<>();
      Stream.of(update.winner().stream(), update.written().stream(), before.stream())
          .flatMap(some -> some)
          .forEach(branch -> after.putIfAbsent(Leaf.of(branch), branch));
      after.keySet().removeIf(gone::contains);
      return List.copyOf(after.values());
    }
  }

  /**
   * @param bodies of the new leaves
   */
  public Started begin(String id, BranchUpdate update, Map<RevisionId, ExplodedBody> bodies) {
    Optional<EditBranch> former = update.formerWinner();
    DocumentLeaves leaves = new DocumentLeaves(documents, id);
    former.ifPresent(leaves::start);
    boolean isBranched = former.filter(it -> it.winner().branchCount() > 1).isPresent();
    return new Started(id, update, bodies, leaves, isBranched ? revisions.branches(tx, id) : null);
  }

  /** Finds out where the document is after the edit. Call it once, before {@link #move}. */
  public void decide(Started edit, EditWork work) {
    List<EditBranch> before = edit.before();
    List<EditBranch> after = edit.after(before);
    before.forEach(edit.leaves::start);
    Set<Leaf> stored = before.stream().map(Leaf::of).collect(Collectors.toSet());
    for (EditBranch branch : after) {
      ExplodedBody body = stored.contains(Leaf.of(branch)) ? null : edit.bodies.get(branch.leaf());
      if (body == null) {
        edit.leaves.start(branch);
      } else {
        edit.leaves.take(branch, body);
      }
    }
    edit.afterwards = belonging(edit.leaves.of(after), work);
  }

  /** Finds out what the edit moves, and starts to read what was noted of documents that return. */
  public List<FeedDelta.Moved> move(Started edit, EditWork work) {
    List<Belonging> formerly = belonging(edit.leaves.of(edit.before()), work);
    List<FeedDelta.Moved> moved = new ArrayList<>(feeds.size());
    for (int i = 0; i < feeds.size(); i++) {
      moved.add(feeds.get(i).move(edit.id, edit.update, formerly.get(i), edit.afterwards.get(i)));
    }
    return moved;
  }

  private List<Belonging> belonging(List<LeafView> leaves, EditWork work) {
    return feeds.stream().map(feed -> Belonging.of(feed.feed(), leaves, work)).toList();
  }

  /** Returns the bytes of keys and values read so far. */
  public long bytesRead() {
    return documents.bytesArrived();
  }

  /** Returns the rows to change. */
  public static List<FeedChange> changes(List<FeedDelta.Moved> moved) {
    List<FeedChange> changes = new ArrayList<>();
    moved.forEach(it -> it.addTo(changes));
    return changes;
  }
}
