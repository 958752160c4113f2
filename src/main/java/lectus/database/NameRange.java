package lectus.database;

import java.util.Optional;

/**
 * The names that {@code _all_dbs} lists.
 *
 * @param start first name in the direction of reading, inclusive
 * @param end last name in the direction of reading
 * @param inclusiveEnd whether {@code end} itself is listed
 * @param skip number of names skipped before the first one listed
 * @param limit maximum number of names listed
 */
public record NameRange(
    Optional<String> start,
    Optional<String> end,
    boolean inclusiveEnd,
    boolean descending,
    long skip,
    long limit) {
  public static final NameRange ALL =
      new NameRange(Optional.empty(), Optional.empty(), false, 0, Long.MAX_VALUE);

  /** Includes the range's end. */
  public NameRange(
      Optional<String> start, Optional<String> end, boolean descending, long skip, long limit) {
    this(start, end, true, descending, skip, limit);
  }
}
