package lectus.database;

import java.util.Optional;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.error.LectusException;

/**
 * The options given when a database is created.
 *
 * @param partitioned whether ids begin with a partition key
 * @param changesShards how many shards take the changes (RFC 018), 1 to 1024
 * @param layout how bodies are stored; empty: as the server's configuration says
 */
public record CreationOptions(boolean partitioned, int changesShards, Optional<BodyLayout> layout) {
  public static final int MAX_CHANGES_SHARDS = 1024;

  public static final CreationOptions DEFAULT = new CreationOptions(false, 1);

  /**
   * @throws LectusException {@code bad_request} for a number of shards outside its limits
   */
  public CreationOptions {
    checkChangesShards(changesShards);
  }

  /** Lets the server's configuration choose the layout. */
  public CreationOptions(boolean partitioned, int changesShards) {
    this(partitioned, changesShards, Optional.empty());
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
