package lectus.derived;

/**
 * The limits on indexes. Keys of entries stay far below the store's 10 kB, and the definitions of a
 * database fit into memory beside its configuration.
 */
public final class IndexLimits {
  /** Maximum number of fields of an index. */
  public static final int MAX_FIELDS = 32;

  /** Maximum number of indexes of a database. */
  public static final int MAX_INDEXES = 64;

  /** Maximum length of an index's name, in UTF-16 units. */
  public static final int LONGEST_NAME = 500;

  /** Maximum length of an index's fields and partial filter together, in UTF-16 units. */
  public static final int LONGEST_DEFINITION = 8_000;

  /** Bytes of an entry's key for the values of all fields together. */
  private static final int SORT_KEY_BYTES = 6_000;

  /** The same for one value. */
  private static final int MAX_VALUE_BYTES = 1_000;

  private IndexLimits() {}

  /**
   * Returns how many bytes of a value's sort key an entry has. Values that differ only behind them
   * are not told apart by the index.
   */
  public static int valueBytes(int fields) {
    return Math.min(MAX_VALUE_BYTES, SORT_KEY_BYTES / fields);
  }
}
