package lectus.database;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** All generations of a database's changes shards, oldest first (RFC 018). */
public record ShardTopology(List<Generation> generations, boolean partitioned) {
  public ShardTopology {
    generations = List.copyOf(generations);
    if (generations.isEmpty()) {
      throw new IllegalArgumentException("A database has at least one generation");
    }
  }

  public Generation current() {
    return generations.get(generations.size() - 1);
  }

  /** The generation that the entry written at {@code sequence} belongs to. */
  public Generation at(Sequence sequence) {
    return generations.get(indexAt(Optional.of(sequence)));
  }

  /** The generations in which a reader behind {@code since} goes on; all if it is empty. */
  public List<Generation> from(Optional<Sequence> since) {
    return generations.subList(indexAt(since), generations.size());
  }

  /** The generation that a shard belongs to. */
  public Optional<Generation> of(ShardId shard) {
    return generations.stream().filter(it -> it.shards().contains(shard)).findFirst();
  }

  /** The generation that replaced another one; empty for the current one. */
  public Optional<Generation> after(Generation generation) {
    int next = generations.indexOf(generation) + 1;
    return next < generations.size() ? Optional.of(generations.get(next)) : Optional.empty();
  }

  /** Where a new entry of this document goes. */
  public ShardId shardFor(String docId) {
    return shardIn(current(), docId);
  }

  /**
   * Where the entry that was written at {@code sequence} lies: computed, never stored (RFC 018,
   * Write Path).
   */
  public ShardId shardAt(String docId, Sequence sequence) {
    return shardIn(at(sequence), docId);
  }

  public ShardId shardIn(Generation generation, String docId) {
    return generation.shardOf(partitionKey(docId));
  }

  /** This topology once {@code count} new shards have taken over at {@code since}. */
  ShardTopology resharded(Sequence since, int count) {
    List<Generation> more = new ArrayList<>(generations);
    more.set(more.size() - 1, current().asReplaced());
    more.add(new Generation(Optional.of(since), HashScheme.DEFAULT, unusedShards(count), false));
    return new ShardTopology(more, partitioned);
  }

  /** All generations' entries stay, so what is in none of them was never used. */
  private List<ShardId> unusedShards(int count) {
    int first =
        1
            + generations.stream()
                .flatMap(generation -> generation.shards().stream())
                .filter(shard -> !shard.isDeprecated())
                .mapToInt(shard -> Integer.parseInt(shard.text()))
                .max()
                .orElse(-1);
    return IntStream.range(first, first + count).mapToObj(ShardId::numbered).toList();
  }

  private int indexAt(Optional<Sequence> sequence) {
    for (int i = generations.size() - 1; i > 0; i--) {
      if (sequence.isPresent()
          && generations.get(i).since().orElseThrow().compareTo(sequence.get()) <= 0) {
        return i;
      }
    }
    return 0;
  }

  private String partitionKey(String docId) {
    return partitioned ? Partition.ofDocument(docId).map(Partition::name).orElse(docId) : docId;
  }
}
