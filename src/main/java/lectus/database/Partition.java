package lectus.database;

import java.util.Optional;
import lectus.error.LectusException;

/**
 * A partition of a partitioned database: the part of its documents' ids before the first colon.
 * Design documents and local documents belong to none.
 */
public record Partition(String name) {
  private static final char SEPARATOR = ':';

  /** Sorts right after the separator. */
  private static final char BEHIND_SEPARATOR = ';';

  /**
   * @throws LectusException 400 {@code illegal_partition}, with CouchDB's sentences
   */
  public static Partition of(String name) {
    if (name.isEmpty()) {
      throw illegal("Partition must not be empty");
    }
    if (name.startsWith("_")) {
      throw illegal("Partition must not start with an underscore");
    }
    if (name.indexOf(SEPARATOR) >= 0) {
      throw illegal("Partition must not contain a colon");
    }
    return new Partition(name);
  }

  /**
   * Returns the partition that an id names; empty if it names none. Does not check its legality.
   */
  public static Optional<Partition> ofDocument(String docId) {
    int colon = docId.startsWith("_") ? -1 : docId.indexOf(SEPARATOR);
    return colon < 0 ? Optional.empty() : Optional.of(new Partition(docId.substring(0, colon)));
  }

  /** Sorts at or before all ids of the partition. */
  public String firstId() {
    return name + SEPARATOR;
  }

  /** Sorts after all ids of the partition, and at or before the next id. */
  public String endId() {
    return name + BEHIND_SEPARATOR;
  }

  private static LectusException illegal(String reason) {
    return LectusException.badRequest("illegal_partition", reason);
  }
}
