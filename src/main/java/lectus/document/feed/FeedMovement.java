package lectus.document.feed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.ChangeEntry;
import lectus.channel.StoredFeed;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
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

    private Moved(String id) {
      this.id = id;
    }

    /** Adds the rows to change. */
    void addTo(List<FeedChange> all) {
      all.addAll(changes);
      returning.forEach(
          (channel, departed) -> {
            Optional<Sequence> left = Awaiting.await(departed);
            if (left.isPresent()) {
              all.addAll(entries.clearingDeparture(channel, left.get()));
              all.add(departures.clearing(id, channel));
            }
          });
    }
  }

  Moved move(String id, BranchUpdate update, Belonging before, Belonging after) {
    Moved moved = new Moved(id);
    EditBranch winner = update.winner();
    ChangeEntry entry =
        new ChangeEntry(null, id, winner.leaf(), winner.deleted(), winner.winner().branchCount());
    update
        .formerWinner()
        .ifPresent(former -> leave(moved, former.winner().sequence(), entry, before, after));
    after
        .channels()
        .forEach(
            (channel, standing) -> {
              moved.changes.add(entries.insertion(channel, entry, standing));
              boolean mayReturn =
                  update.formerWinner().isPresent() && !before.channels().containsKey(channel);
              if (mayReturn) {
                moved.returning.put(channel, departures.of(tx, id, channel));
              }
            });
    if (before.refused().isPresent() || after.refused().isPresent()) {
      moved.changes.add(states.refusal(id, after.refused()));
    }
    return moved;
  }

  private void leave(
      Moved moved, Sequence former, ChangeEntry entry, Belonging before, Belonging after) {
    List<String> left = new ArrayList<>();
    for (String channel : before.channels().keySet()) {
      moved.changes.add(entries.clearing(channel, former));
      if (!after.channels().containsKey(channel)) {
        moved.changes.add(entries.insertion(channel, entry, Standing.LEFT));
        moved.changes.add(departures.insertion(moved.id, channel));
        left.add(channel);
      }
    }
    if (!left.isEmpty()) {
      moved.changes.add(departures.lastInsertion(moved.id, left));
    }
  }
}
