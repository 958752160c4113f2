package lectus.database;

/**
 * What an administrator sets for one database.
 *
 * @param revsLimit how many ancestors an edit branch keeps, 1 to 4000 (RFC 001)
 * @param partitioned whether ids begin with a partition key
 */
public record DatabaseConfiguration(int revsLimit, boolean partitioned) {
  public static final int DEFAULT_REVS_LIMIT = 1000;

  /** RFC 001: more hashes would not fit in one value. */
  public static final int MAX_REVS_LIMIT = 4000;

  public static final DatabaseConfiguration DEFAULT =
      new DatabaseConfiguration(DEFAULT_REVS_LIMIT, false);
}
