package lectus.document.feed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.ChangeEntry;
import lectus.channel.FeedLimits;
import lectus.channel.StoredFeed;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.feed.FeedDeparturesSubspace.Departure;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.store.Awaiting;

/** Computes what an edit changes in one stored feed. */
public final class FeedMovement {
  private final ReadTransaction tx;
  private final StoredFeed feed;
  private final FeedEntriesSubspace entries;
  private final FeedDeparturesSubspace departures;
  private final FeedStatesSubspace states;

  FeedMovement(ReadTransaction tx, DatabaseHandle db, StoredFeed feed) {
    this.tx = tx.snapshot();
    this.feed = feed;
    this.entries = new FeedEntriesSubspace(db, feed);
    this.departures = new FeedDeparturesSubspace(db, feed);
    this.states = new FeedStatesSubspace(db, feed);
  }

  StoredFeed feed() {
    return feed;
  }

  /** What an edit changes in the feed, while it is read where the document had left. */
  public final class Moved {
    private final String id;
    private final List<FeedChange> changes = new ArrayList<>();
    private final Map<String, CompletableFuture<Optional<Sequence>>> returning = new HashMap<>();

    private final List<String> left = new ArrayList<>();

    /** Of a document that is purged. */
    private CompletableFuture<List<Departure>> forgotten =
        CompletableFuture.completedFuture(List.of());

    /** Of a document that leaves more. */
    private CompletableFuture<List<Departure>> former =
        CompletableFuture.completedFuture(List.of());

    private Moved(String id) {
      this.id = id;
    }

    /** Adds the rows to change. */
    void addTo(List<FeedChange> all) {
      all.addAll(changes);
      for (Departure departure : Awaiting.await(forgotten)) {
        forget(departure, all);
        all.add(departures.clearingLast(id));
      }
      oldest(Awaiting.await(former)).forEach(departure -> forget(departure, all));
      returning.forEach(
          (channel, departed) -> {
            Optional<Sequence> left = Awaiting.await(departed);
            if (left.isPresent()) {
              all.addAll(entries.clearingDeparture(channel, left.get()));
              all.add(departures.clearing(id, channel));
            }
          });
    }

    private void forget(Departure departure, List<FeedChange> all) {
      for (String channel : departure.isLast() ? List.<String>of() : departure.channels()) {
        all.addAll(entries.clearingDeparture(channel, departure.sequence()));
        all.add(departures.clearing(id, channel));
      }
    }

    /** Returns what is too much, so that one document never has more than one write can clear. */
    private List<Departure> oldest(List<Departure> some) {
      List<Departure> known =
          some.stream()
              .filter(it -> !it.isLast() && !left.containsAll(it.channels()))
              .sorted(Comparator.comparing(Departure::sequence))
              .toList();
      return known.subList(0, Math.max(0, known.size() + left.size() - FeedLimits.MOST_LEFT));
    }
  }

  Moved move(String id, BranchUpdate update, Belonging before, Belonging after) {
    Moved moved = new Moved(id);
    if (before.refused().isPresent() || after.refused().isPresent()) {
      moved.changes.add(states.refusal(id, after.refused()));
    }
    update
        .winner()
        .ifPresentOrElse(
            winner -> move(moved, winner, update.formerWinner(), before, after),
            () -> purge(moved, update.formerWinner(), before));
    return moved;
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
                moved.returning.put(channel, departures.of(tx, moved.id, channel));
              }
            });
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
    moved.forgotten = departures.all(tx, moved.id);
  }

  private void leave(
      Moved moved, Sequence former, ChangeEntry entry, Belonging before, Belonging after) {
    for (String channel : before.channels().keySet()) {
      moved.changes.add(entries.clearing(channel, former));
      if (!after.channels().containsKey(channel)) {
        moved.changes.add(entries.insertion(channel, entry, Standing.LEFT));
        moved.changes.add(departures.insertion(moved.id, channel));
        moved.left.add(channel);
      }
    }
    if (!moved.left.isEmpty()) {
      moved.former = departures.all(tx, moved.id);
      moved.changes.add(departures.lastInsertion(moved.id, moved.left));
    }
  }
}
