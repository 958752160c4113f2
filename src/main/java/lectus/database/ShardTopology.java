package lectus.database;

import java.util.List;

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
    for (int i = generations.size() - 1; i > 0; i--) {
      if (generations.get(i).since().orElseThrow().compareTo(sequence) <= 0) {
        return generations.get(i);
      }
    }
    return generations.get(0);
  }

  /** Where a new entry of this document goes. */
  public ShardId shardFor(String docId) {
    return current().shardOf(partitionKey(docId));
  }

  /**
   * Where the entry that was written at {@code sequence} lies: computed, never stored (RFC 018,
   * Write Path).
   */
  public ShardId shardAt(String docId, Sequence sequence) {
    return at(sequence).shardOf(partitionKey(docId));
  }

  private String partitionKey(String docId) {
    return partitioned ? Partition.ofDocument(docId).map(Partition::name).orElse(docId) : docId;
  }
}
