package lectus.database;

import java.util.Optional;

/**
 * Consecutive generations that have no entries left, because every document written in them was
 * written again later. They take no more changes, so they stay empty. Only their shards have to be
 * known: the ids are never reused, and readers of these shards are told where to continue.
 *
 * @param since the first sequence of the first of them; empty if that is 0
 * @param deprecated whether one of them holds the changes from before shards
 * @param firstShard the lowest shard number
 * @param shards number of shards, numbered consecutively
 */
public record EmptiedGenerations(
    Optional<Sequence> since, boolean deprecated, int firstShard, int shards) implements Era {

  /** Whether the shard belongs to one of these generations. */
  public boolean has(ShardId shard) {
    if (shard.isDeprecated()) {
      return deprecated;
    }
    return shard.number().stream().anyMatch(it -> it >= firstShard && it < endOfShards());
  }

  /** Returns the first shard number after theirs. */
  int endOfShards() {
    return firstShard + shards;
  }

  /** Returns one description of these generations and the next ones. */
  EmptiedGenerations and(EmptiedGenerations next) {
    boolean none = shards == 0;
    return new EmptiedGenerations(
        since,
        deprecated || next.deprecated,
        none ? next.firstShard : firstShard,
        shards + next.shards);
  }

  /** Describes a generation without entries. */
  static EmptiedGenerations of(Generation generation) {
    if (generation.isDeprecated()) {
      return new EmptiedGenerations(generation.since(), true, 0, 0);
    }
    int first = generation.shards().get(0).number().orElseThrow();
    return new EmptiedGenerations(generation.since(), false, first, generation.shards().size());
  }
}
