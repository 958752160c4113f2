package lectus.database;

/**
 * A changes shard of one database (RFC 018). Unique within its life and never used again: numbers,
 * each higher than all before.
 */
public record ShardId(String text) {
  /** Stands for the changes from before shards, which lie in the deprecated subspace. */
  public static final ShardId DEPRECATED = new ShardId("deprecated");

  static ShardId numbered(int number) {
    return new ShardId(Integer.toString(number));
  }

  /** Whether the changes lie in the subspace without shards. */
  public boolean isDeprecated() {
    return equals(DEPRECATED);
  }

  @Override
  public String toString() {
    return text;
  }
}
