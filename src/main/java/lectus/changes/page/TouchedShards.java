package lectus.changes.page;

import java.util.HashSet;
import java.util.Set;
import lectus.database.ShardId;

/**
 * The changes shards with new entries, so that readers of other shards need not look at once.
 *
 * @param ids empty if they are unknown or too many: it may be any shard
 */
public record TouchedShards(Set<ShardId> ids) {
  /** More shards are not listed. */
  static final int MOST = 32;

  public static final TouchedShards ANY = new TouchedShards(Set.of());

  public TouchedShards {
    ids = ids.size() > MOST ? Set.of() : Set.copyOf(ids);
  }

  public boolean mayHave(ShardId shard) {
    return ids.isEmpty() || ids.contains(shard);
  }

  public TouchedShards and(TouchedShards others) {
    if (ids.isEmpty() || others.ids.isEmpty()) {
      return ANY;
    }
    Set<ShardId> all = new HashSet<>(ids);
    all.addAll(others.ids);
    return new TouchedShards(all);
  }
}
