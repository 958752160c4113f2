package lectus.database;

import java.util.List;
import java.util.Optional;

/**
 * One shard map: the shards that take the changes from {@code since} (RFC 018, Metadata).
 *
 * @param since the first sequence at which this map is active; empty for the first, active from 0
 * @param hash how a partition key chooses its shard
 * @param shards in the order in which the hash counts them, at least one
 * @param replaced the tombstone: a later generation has taken over
 */
public record Generation(
    Optional<Sequence> since, HashScheme hash, List<ShardId> shards, boolean replaced)
    implements Era {
  /** The changes of a database from before shards, which lie in their own subspace. */
  static final Generation UNSHARDED =
      new Generation(Optional.empty(), HashScheme.UNSHARDED, List.of(ShardId.DEPRECATED), false);

  public Generation {
    shards = List.copyOf(shards);
    if (shards.isEmpty()) {
      throw new IllegalArgumentException("A generation has at least one shard");
    }
  }

  /** Whether the changes lie in the subspace without shards (RFC 018, Backwards Compatibility). */
  public boolean isDeprecated() {
    return hash == HashScheme.UNSHARDED;
  }

  /** Returns the shard that takes the document's changes while this generation is active. */
  public ShardId shardOf(String partitionKey) {
    return shards.get(hash.shardOf(partitionKey, shards.size()));
  }

  /** Returns the same generation with its tombstone. */
  Generation asReplaced() {
    return new Generation(since, hash, shards, true);
  }
}
