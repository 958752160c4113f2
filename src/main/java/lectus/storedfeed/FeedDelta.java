package lectus.storedfeed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.derived.DocumentChannels;
import lectus.derived.FeedLimits;
import lectus.derived.StoredFeed;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.store.Awaiting;
import lectus.storedfeed.FeedRemovalsSubspace.Departure;

/** Computes what an edit changes in one stored feed. */
public final class FeedDelta {
  private final ReadTransaction tx;
  private final StoredFeed feed;
  private final FeedEntriesSubspace entries;
  private final FeedRemovalsSubspace departures;
  private final FeedStatesSubspace states;

  FeedDelta(ReadTransaction tx, DatabaseHandle db, StoredFeed feed) {
    this.tx = tx.snapshot();
    this.feed = feed;
    this.entries = new FeedEntriesSubspace(db, feed);
    this.departures = new FeedRemovalsSubspace(db, feed);
    this.states = new FeedStatesSubspace(db, feed);
  }

  StoredFeed feed() {
    return feed;
  }

  /** What an edit changes in the feed, while it is read where the document had left. */
  public final class Moved {
    private final String id;
    private final List<FeedChange> changes = new ArrayList<>();
    private final Set<String> entered = new HashSet<>();
    private int left;
    private boolean isPurged;

    /** Null if they do not matter. */
    private CompletableFuture<List<Departure>> departed;

    private Moved(String id) {
      this.id = id;
    }

    /** Returns the bytes of what is known so far. */
    public long bytes() {
      return changes.stream().mapToLong(FeedChange::bytes).sum();
    }

    /** Adds the rows to change. */
    void addTo(List<FeedChange> all) {
      all.addAll(changes);
      if (departed == null) {
        return;
      }
      List<Departure> kept = new ArrayList<>(Awaiting.await(departed));
      kept.sort(Comparator.comparing(Departure::sequence));
      List<Departure> forgotten = new ArrayList<>();
      for (Departure each : List.copyOf(kept)) {
        // One document never has more than one write can clear.
        boolean isTooMuch = kept.size() + left > FeedLimits.MAX_LEFT;
        if (isPurged || entered.contains(each.channel()) || isTooMuch) {
          kept.remove(each);
          forgotten.add(each);
        }
      }
      Set<Sequence> places = new HashSet<>();
      kept.forEach(it -> places.add(it.sequence()));
      forgotten.forEach(
          it -> {
            all.addAll(entries.clearingDeparture(it.channel(), it.sequence()));
            all.add(departures.clearing(id, it.channel()));
            if (places.add(it.sequence())) {
              entries.clearingDeparture(it.sequence()).ifPresent(all::add);
            }
          });
    }
  }

  /**
   * @param formerly as computed now
   */
  Moved move(String id, BranchUpdate update, Belonging formerly, Belonging after) {
    Moved moved = new Moved(id);
    Belonging before = asStored(formerly, update.formerWinner());
    if (before.refused().isPresent() || after.refused().isPresent() || !before.isCertain()) {
      moved.changes.add(states.refusal(id, after.refused()));
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
        Awaiting.await(
            entries.contains(tx, DocumentChannels.ONLY, former.get().winner().sequence()));
    return new Belonging(
        isIn ? Map.of(DocumentChannels.ONLY, Standing.MEMBER) : Map.of(),
        computed.refused(),
        false);
  }

  private void move(
      Moved moved,
      EditBranch winner,
      Optional<EditBranch> former,
      Belonging before,
      Belonging after) {
    ChangeEntry entry =
        new ChangeEntry(
            null, moved.id, winner.leaf(), winner.deleted(), winner.winner().branchCount());
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
