package lectus.derived.rows;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.derived.DerivedRow;
import lectus.derived.EditWork;
import lectus.derived.FeedDefinition;
import lectus.derived.StoredFeed;
import lectus.derived.rows.Belonging.DocumentLeaves;
import lectus.derived.rows.Belonging.DocumentLeaves.Leaf;
import lectus.derived.rows.Belonging.Standing;
import lectus.derived.rows.FeedRemovalsSubspace.Departure;
import lectus.document.read.SelectedDocuments;
import lectus.json.ExplodedBody;
import lectus.json.LeafView;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

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
  private final List<OfFeed> feeds;

  public FeedMaintenance(ReadTransaction tx, DatabaseHandle db) {
    this.tx = tx.snapshot();
    this.revisions = new RevisionsSubspace(db);
    this.documents = new SelectedDocuments(this.tx, db, db.feeds().reads());
    this.feeds = db.feeds().all().stream().map(feed -> new OfFeed(db, feed)).toList();
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
  public List<Moved> move(Started edit, EditWork work) {
    List<Belonging> formerly = belonging(edit.leaves.of(edit.before()), work);
    List<Moved> moved = new ArrayList<>(feeds.size());
    for (int i = 0; i < feeds.size(); i++) {
      moved.add(feeds.get(i).move(edit.id, edit.update, formerly.get(i), edit.afterwards.get(i)));
    }
    return moved;
  }

  private List<Belonging> belonging(List<LeafView> leaves, EditWork work) {
    return feeds.stream().map(feed -> Belonging.of(feed.feed, leaves, work)).toList();
  }

  /** Returns the bytes of keys and values read so far. */
  public long bytesRead() {
    return documents.bytesArrived();
  }

  /** What an edit changes in the feed, while it is read where the document had left. */
  public static final class Moved {
    private final OfFeed feed;
    private final String id;
    private final List<DerivedRow> changes = new ArrayList<>();
    private final Set<String> entered = new HashSet<>();
    private int left;
    private boolean isPurged;

    /** Null if they do not matter. */
    private CompletableFuture<List<Departure>> departed;

    private Moved(OfFeed feed, String id) {
      this.feed = feed;
      this.id = id;
    }

    /** Returns the bytes of what is known so far. */
    public long bytes() {
      return changes.stream().mapToLong(DerivedRow::bytes).sum();
    }

    /** Adds the rows to change. */
    public void addTo(List<DerivedRow> all) {
      all.addAll(changes);
      if (departed == null) {
        return;
      }
      List<Departure> kept = new ArrayList<>(Awaiting.await(departed));
      kept.sort(Comparator.comparing(Departure::sequence));
      List<Departure> forgotten = new ArrayList<>();
      for (Departure each : List.copyOf(kept)) {
        // One document never has more than one write can clear.
        boolean isTooMuch = kept.size() + left > FeedDefinition.MAX_LEFT;
        if (isPurged || entered.contains(each.channel()) || isTooMuch) {
          kept.remove(each);
          forgotten.add(each);
        }
      }
      Set<Sequence> places = new HashSet<>();
      kept.forEach(it -> places.add(it.sequence()));
      forgotten.forEach(
          it -> {
            all.addAll(feed.entries.clearingDeparture(it.channel(), it.sequence()));
            all.add(feed.departures.clearing(id, it.channel()));
            if (places.add(it.sequence())) {
              feed.entries.clearingDeparture(it.sequence()).ifPresent(all::add);
            }
          });
    }
  }

  /** Computes what an edit changes in one stored feed. */
  private final class OfFeed {
    private final StoredFeed feed;
    private final FeedEntriesSubspace entries;
    private final FeedRemovalsSubspace departures;
    private final RefusedSubspace refused;

    OfFeed(DatabaseHandle db, StoredFeed feed) {
      this.feed = feed;
      this.entries = new FeedEntriesSubspace(db, feed);
      this.departures = new FeedRemovalsSubspace(db, feed);
      this.refused = new RefusedSubspace(db, feed);
    }

    /**
     * @param formerly as computed now
     */
    Moved move(String id, BranchUpdate update, Belonging formerly, Belonging after) {
      Moved moved = new Moved(this, id);
      Belonging before = asStored(formerly, update.formerWinner());
      if (before.refused().isPresent() || after.refused().isPresent() || !before.isCertain()) {
        moved.changes.add(
            after
                .refused()
                .map(why -> refused.refusal(id, why))
                .orElseGet(() -> refused.clearing(id)));
      }
      update
          .winner()
          .ifPresentOrElse(
              winner -> move(moved, winner, update.formerWinner(), before, after),
              () -> purge(moved, update.formerWinner(), before));
      return moved;
    }

    /** Where it is not certain that the feed has the document, its entry is looked for. */
    private Belonging asStored(Belonging computed, Optional<EditBranch> former) {
      if (computed.isCertain() || former.isEmpty()) {
        return computed;
      }
      boolean isIn =
          Awaiting.await(entries.contains(tx, StoredFeed.ONLY, former.get().winner().sequence()));
      return new Belonging(
          isIn ? Map.of(StoredFeed.ONLY, Standing.MEMBER) : Map.of(),
          List.of(),
          computed.refused(),
          false);
    }

    private void move(
        Moved moved,
        EditBranch winner,
        Optional<EditBranch> former,
        Belonging before,
        Belonging after) {
      ChangeEntry entry = ChangeEntry.of(moved.id, winner);
      former.ifPresent(it -> leave(moved, it.winner().sequence(), entry, before, after));
      after
          .channels()
          .forEach(
              (channel, standing) -> {
                moved.changes.add(entries.insertion(channel, entry, standing));
                if (former.isPresent() && !before.channels().containsKey(channel)) {
                  moved.entered.add(channel);
                }
              });
      if (moved.left > 0 || !moved.entered.isEmpty()) {
        moved.departed = departures.all(tx, moved.id);
      }
    }

    /** As in the changes index, nothing is left of the document. */
    private void purge(Moved moved, Optional<EditBranch> former, Belonging before) {
      former.ifPresent(
          it ->
              before
                  .channels()
                  .keySet()
                  .forEach(
                      channel ->
                          moved.changes.add(entries.clearing(channel, it.winner().sequence()))));
      moved.isPurged = true;
      moved.departed = departures.all(tx, moved.id);
    }

    private void leave(
        Moved moved, Sequence former, ChangeEntry entry, Belonging before, Belonging after) {
      for (String channel : before.channels().keySet()) {
        moved.changes.add(entries.clearing(channel, former));
        if (!after.channels().containsKey(channel)) {
          moved.changes.add(entries.insertion(channel, entry, Standing.LEFT));
          moved.changes.add(departures.insertion(moved.id, channel));
          moved.left++;
        }
      }
      if (moved.left > 0) {
        entries.departure(entry).ifPresent(moved.changes::add);
      }
    }
  }
}
