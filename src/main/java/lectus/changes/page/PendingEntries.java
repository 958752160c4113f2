package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.store.Awaiting;

/** Counts the entries that follow a reader that has not reached the end: at least one. */
final class PendingEntries {
  /** Maximum number of entries counted one by one if the counters do not tell. */
  private static final int COUNTED_ENTRIES = 100;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final FeedExtent extent;
  private final EntryReader entries;

  PendingEntries(ReadTransaction tx, DatabaseHandle db, FeedExtent extent) {
    this.tx = tx;
    this.db = db;
    this.extent = extent;
    this.entries = new EntryReader(tx, db, extent);
  }

  long behind(FeedPosition position) {
    if (position.isCounted()) {
      return Math.max(1, total() - position.entriesLookedAt());
    }
    int near = entries.oldest(position.sequence(), COUNTED_ENTRIES).size();
    return near < COUNTED_ENTRIES ? Math.max(1, near) : estimate(position.sequence());
  }

  /** Estimates by the share of the index's bytes that follow. */
  private long estimate(Optional<Sequence> from) {
    long following = bytesBehind(from);
    long all = bytesBehind(Optional.empty());
    double share = all == 0 ? 1 : Math.min(1, (double) following / all);
    return Math.max(COUNTED_ENTRIES, Math.round(share * total()));
  }

  private long bytesBehind(Optional<Sequence> position) {
    ChangesSubspace changes = new ChangesSubspace(db);
    List<CompletableFuture<Long>> sizes = new ArrayList<>();
    for (ShardId shard : entries.shardsBehind(position)) {
      sizes.add(changes.estimatedBytes(tx, shard, position));
    }
    return sizes.stream().mapToLong(Awaiting::await).sum();
  }

  private long total() {
    Optional<ShardId> shard = extent.shard();
    if (shard.isPresent() && !shard.get().isDeprecated()) {
      return Awaiting.await(DatabaseCounters.entries(tx, db, shard.get()));
    }
    CompletableFuture<Long> all = DatabaseCounters.entries(tx, db);
    long inShards = shard.isEmpty() ? 0 : Awaiting.await(DatabaseCounters.entriesInShards(tx, db));
    return Awaiting.await(all) - inShards;
  }
}
