package lectus.http.websocket;

import java.util.OptionalLong;

/**
 * The number of rows that a client still accepts. Without credits, rows wait in the store. A client
 * that never mentioned credits accepts as many rows as its socket does.
 */
final class Credits {
  /** The most credits, so that no sum can overflow. */
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

  /** Returns the number of rows that may be sent now. */
  long left() {
    return left;
  }

  /** Returns false, and changes nothing, if the sum would exceed {@link #MOST}. */
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
