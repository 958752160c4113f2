package lectus.database;

import lectus.error.LectusException;

/**
 * The options given when a database is created.
 *
 * @param partitioned whether ids begin with a partition key
 * @param changesShards how many shards take the changes (RFC 018), 1 to 1024
 */
public record CreationOptions(boolean partitioned, int changesShards) {
  public static final int MAX_CHANGES_SHARDS = 1024;

  public static final CreationOptions DEFAULT = new CreationOptions(false, 1);

  /**
   * @throws LectusException {@code bad_request} for a number of shards outside its limits
   */
  public CreationOptions {
    checkChangesShards(changesShards);
  }

  static void checkChangesShards(int shards) {
    if (shards < 1 || shards > MAX_CHANGES_SHARDS) {
      throw badChangesShards();
    }
  }

  /** Returns the error for a number of shards that is malformed or out of bounds. */
  public static LectusException badChangesShards() {
    return LectusException.badRequest(
        "The number of changes shards must be a whole number from 1 to "
            + MAX_CHANGES_SHARDS
            + ".");
  }
}
