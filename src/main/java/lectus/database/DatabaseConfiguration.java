package lectus.database;

import java.util.Locale;
import java.util.Optional;

/**
 * The settings that an administrator makes for one database.
 *
 * @param revsLimit number of ancestors that an edit branch keeps, 1 to 4000 (RFC 001)
 * @param partitioned whether ids begin with a partition key
 * @param purgedInfosLimit number of purges to remember, 1 or more
 */
public record DatabaseConfiguration(
    int revsLimit, boolean partitioned, long purgedInfosLimit, BodyLayout layout) {
  public static final int DEFAULT_REVS_LIMIT = 1000;
  public static final long DEFAULT_PURGED_INFOS_LIMIT = 1000;

  /** RFC 001: more hashes would not fit in one value. */
  public static final int MAX_REVS_LIMIT = 4000;

  public static final DatabaseConfiguration DEFAULT =
      new DatabaseConfiguration(DEFAULT_REVS_LIMIT, false);

  /** Uses the default limit of purges, and stores small bodies inline. */
  public DatabaseConfiguration(int revsLimit, boolean partitioned) {
    this(revsLimit, partitioned, DEFAULT_PURGED_INFOS_LIMIT, BodyLayout.INLINE);
  }

  public DatabaseConfiguration withRevsLimit(int limit) {
    return new DatabaseConfiguration(limit, partitioned, purgedInfosLimit, layout);
  }

  public DatabaseConfiguration withPurgedInfosLimit(long limit) {
    return new DatabaseConfiguration(revsLimit, partitioned, limit, layout);
  }

  /** How a database stores the bodies of its documents. */
  public enum BodyLayout {
    /** A small body's leaves lie in the row of their revision's metadata. */
    INLINE,
    /** As RFC 004 says, each leaf has a row of its own; only large bodies are text. */
    RFC004;

    /** Returns the layout of this name; empty if there is none. */
    public static Optional<BodyLayout> named(String name) {
      for (BodyLayout layout : values()) {
        if (layout.text().equals(name)) {
          return Optional.of(layout);
        }
      }
      return Optional.empty();
    }

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
