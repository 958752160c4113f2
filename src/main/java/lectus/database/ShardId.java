package lectus.database;

/** A changes shard of one database (RFC 018). Unique within its life and never used again. */
public record ShardId(String text) {
  @Override
  public String toString() {
    return text;
  }
}
