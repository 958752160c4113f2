package lectus.feed;

import java.util.HashSet;
import java.util.Set;
import lectus.database.ShardId;

/**
 * Which changes shards of a database have new entries, so that readers of others need not look at
 * once.
 *
 * @param ids empty where it is not known, or they are many: it may be any
 */
public record TouchedShards(Set<ShardId> ids) {
  /** More are not told one by one. */
  static final int MOST = 32;

  public static final TouchedShards ANY = new TouchedShards(Set.of());

  public TouchedShards {
    ids = ids.size() > MOST ? Set.of() : Set.copyOf(ids);
  }

  public boolean mayHave(ShardId shard) {
    return ids.isEmpty() || ids.contains(shard);
  }

  /** These and others. */
  public TouchedShards and(TouchedShards others) {
    if (ids.isEmpty() || others.ids.isEmpty()) {
      return ANY;
    }
    Set<ShardId> all = new HashSet<>(ids);
    all.addAll(others.ids);
    return new TouchedShards(all);
  }
}
