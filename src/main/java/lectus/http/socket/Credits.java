package lectus.http.socket;

import java.util.OptionalLong;

/**
 * How many more rows a client takes. Without them rows wait in the store. A client that never spoke
 * of credits takes as many as its socket does.
 */
final class Credits {
  /** More are refused, so that no sum can overflow. */
  static final long MOST = 1_000_000_000;

  private final boolean counted;
  private long left;

  /**
   * @param given 0 to {@link #MOST}; empty: not counted
   */
  Credits(OptionalLong given) {
    counted = given.isPresent();
    left = given.orElse(Long.MAX_VALUE);
  }

  boolean areCounted() {
    return counted;
  }

  /** Rows that may be sent now. */
  long left() {
    return left;
  }

  /** False, and nothing changed, if these would be more than {@link #MOST}. */
  boolean add(long rows) {
    if (rows > MOST - left) {
      return false;
    }
    left += rows;
    return true;
  }

  void take(int rows) {
    if (counted) {
      left -= rows;
    }
  }
}
