package lectus.database;

import java.util.OptionalInt;

/**
 * A changes shard of one database (RFC 018). Ids are numbers, each higher than all before: unique
 * within a life of the database and never reused.
 */
public record ShardId(String text) {
  private static final int MAX_DIGITS = 9;

  /** Stands for the changes from before shards, which lie in the deprecated subspace. */
  public static final ShardId DEPRECATED = new ShardId("deprecated");

  public static ShardId numbered(int number) {
    return new ShardId(Integer.toString(number));
  }

  /** Returns its number; empty for a text that cannot be a numbered shard's id. */
  OptionalInt number() {
    boolean canBe =
        !text.isEmpty()
            && text.length() <= MAX_DIGITS
            && text.chars().allMatch(c -> c >= '0' && c <= '9')
            && (text.length() == 1 || text.charAt(0) != '0');
    return canBe ? OptionalInt.of(Integer.parseInt(text)) : OptionalInt.empty();
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
