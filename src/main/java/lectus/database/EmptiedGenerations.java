package lectus.database;

import java.util.Optional;

/**
 * Generations that followed each other and of which nothing is left: every document that was
 * written in them was written again later. They take no changes any more, so they stay empty, and
 * all that must be known of them is which shards they had: those ids are never used again, and
 * their readers are told where to go on.
 *
 * @param since the first sequence of the first of them; empty if that is 0
 * @param deprecated whether one of them is that of the changes from before shards
 * @param firstShard the lowest number of a shard
 * @param shards how many shards there are, with consecutive numbers
 */
public record EmptiedGenerations(
    Optional<Sequence> since, boolean deprecated, int firstShard, int shards) implements Era {

  /** Whether the shard is of one of these generations. */
  public boolean has(ShardId shard) {
    if (shard.isDeprecated()) {
      return deprecated;
    }
    return shard.number().stream().anyMatch(it -> it >= firstShard && it < endOfShards());
  }

  /** The lowest number behind theirs. */
  int endOfShards() {
    return firstShard + shards;
  }

  /** One description of these and of those that follow them. */
  EmptiedGenerations and(EmptiedGenerations next) {
    boolean none = shards == 0;
    return new EmptiedGenerations(
        since,
        deprecated || next.deprecated,
        none ? next.firstShard : firstShard,
        shards + next.shards);
  }

  /** A generation without entries. */
  static EmptiedGenerations of(Generation generation) {
    if (generation.isDeprecated()) {
      return new EmptiedGenerations(generation.since(), true, 0, 0);
    }
    int first = generation.shards().get(0).number().orElseThrow();
    return new EmptiedGenerations(generation.since(), false, first, generation.shards().size());
  }
}
