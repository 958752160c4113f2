package lectus.store.embedded;

/**
 * One fetch of a range.
 *
 * @param limit maximum number of rows; {@link #UNLIMITED} for no limit
 * @param targetBytes the fetch ends with the row that reaches it; {@link Integer#MAX_VALUE} for
 *     none
 */
record RangeRequest(
    Position begin, Position end, int limit, int targetBytes, boolean reverse, boolean snapshot) {
  static final int UNLIMITED = -1;

  boolean isExactWithoutLimit() {
    return limit == UNLIMITED && targetBytes == Integer.MAX_VALUE;
  }

  boolean isSpecial() {
    return KeySpace.isSpecial(begin.base())
        && KeySpace.compare(end.base(), KeySpace.SYSTEM_END) >= 0;
  }

  /**
   * @throws com.apple.foundationdb.FDBException 2004 for a bound after {@code keysEnd}, 2012 for a
   *     negative limit
   */
  void check(byte[] keysEnd) {
    if (KeySpace.compare(begin.base(), keysEnd) > 0 || KeySpace.compare(end.base(), keysEnd) > 0) {
      throw StoreError.KEY_OUTSIDE_LEGAL_RANGE.exception();
    }
    if (limit < UNLIMITED) {
      throw StoreError.RANGE_LIMITS_INVALID.exception();
    }
  }

  /**
   * Returns whether the range is empty whatever the store holds. Such a read conflicts with
   * nothing.
   */
  boolean isInverted() {
    return begin.offset() >= end.offset() && KeySpace.compare(begin.key(), end.key()) >= 0;
  }
}
