package lectus.database;

import java.util.List;
import java.util.Optional;

/**
 * One shard map: which shards take the changes from {@code since} on (RFC 018, Metadata).
 *
 * @param since the first sequence at which this map is active; empty for the first, active from 0
 * @param hash how a partition key chooses its shard
 * @param shards in the order the hash counts them; empty when {@code deprecated}
 * @param replaced the tombstone: a later generation has taken over
 * @param deprecated the changes lie in the subspace without shards
 */
public record Generation(
    Optional<Sequence> since,
    HashScheme hash,
    List<ShardId> shards,
    boolean replaced,
    boolean deprecated) {
  public Generation {
    shards = List.copyOf(shards);
  }

  /** The shard that the document's changes go to while this generation is active. */
  public ShardId shardOf(String partitionKey) {
    return shards.get(hash.shardOf(partitionKey, shards.size()));
  }
}
