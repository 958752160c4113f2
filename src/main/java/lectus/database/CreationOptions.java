package lectus.database;

import lectus.error.LectusException;

/**
 * What is said when a database is created.
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
    if (changesShards < 1 || changesShards > MAX_CHANGES_SHARDS) {
      throw LectusException.badRequest(
          "The number of changes shards must be between 1 and " + MAX_CHANGES_SHARDS + ".");
    }
  }
}
