package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Tells which changes shards of a database have entries at one read version, by their counters,
 * which change in the same transactions as the entries. A replaced shard that is empty stays empty.
 */
public final class FilledShards {
  private final Set<ShardId> filled;

  private FilledShards(Set<ShardId> filled) {
    this.filled = filled;
  }

  /** Needs two range reads, whatever the number of generations. Snapshot reads. */
  public static CompletableFuture<FilledShards> read(ReadTransaction tx, DatabaseHandle db) {
    Range range = StatisticsSubspace.entriesRange(db.prefix());
    CompletableFuture<Long> all = DatabaseCounters.entries(tx, db);
    return tx.snapshot()
        .getRange(range)
        .asList()
        .thenCombine(all, (rows, entries) -> of(range, rows, entries));
  }

  /**
   * @param all number of entries in the whole index
   */
  private static FilledShards of(Range range, List<KeyValue> rows, long all) {
    Map<ShardId, Long> entries = new HashMap<>();
    for (KeyValue row : rows) {
      long count = StatisticsSubspace.number(row.getValue());
      entries.merge(StatisticsSubspace.shardOf(range, row.getKey()), count, Long::sum);
    }
    long inShards = entries.values().stream().mapToLong(Long::longValue).sum();
    Set<ShardId> filled = new HashSet<>();
    entries.forEach(
        (shard, count) -> {
          if (count != 0) {
            filled.add(shard);
          }
        });
    if (inShards != all) {
      filled.add(ShardId.DEPRECATED);
    }
    return new FilledShards(filled);
  }

  public boolean has(ShardId shard) {
    return filled.contains(shard);
  }

  boolean hasAnyOf(Generation generation) {
    return generation.shards().stream().anyMatch(filled::contains);
  }
}
