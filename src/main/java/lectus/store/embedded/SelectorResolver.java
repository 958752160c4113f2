package lectus.store.embedded;

import lectus.store.embedded.engine.read.Cursor;

/** Resolves key selectors over stored and own rows (docs/foundationdb-contract.md, section 4). */
final class SelectorResolver {

  /**
   * @param offBegin whether the selector points before the first key; {@code key} is then ""
   * @param offEnd whether it points after the last; {@code key} is then the end of the key space
   */
  record Bound(byte[] key, boolean offBegin, boolean offEnd) {}

  private final VisibleRows rows;
  private final byte[] keysEnd;

  SelectorResolver(VisibleRows rows, byte[] keysEnd) {
    this.rows = rows;
    this.keysEnd = keysEnd;
  }

  /** Returns the key at a position, or "" or the end of the key space if there is none. */
  byte[] keyAt(Position position) {
    return position.offset() > 0
        ? walk(position.key(), keysEnd, false, position.offset()).key()
        : walk(KeySpace.FIRST, position.key(), true, 1 - position.offset()).key();
  }

  /** Resolves a range's bound. Like {@link #keyAt}, but reads nothing if the key itself will do. */
  Bound bound(Position position) {
    if (position.offset() == Position.FIRST_AT_OR_BEHIND) {
      return new Bound(KeySpace.min(position.key(), keysEnd), false, false);
    }
    return position.offset() > 0
        ? walk(position.key(), keysEnd, false, position.offset())
        : walk(KeySpace.FIRST, position.key(), true, 1 - position.offset());
  }

  private Bound walk(byte[] begin, byte[] end, boolean reverse, int steps) {
    try (Cursor cursor = rows.scan(begin, KeySpace.min(end, keysEnd), reverse, steps)) {
      for (int i = 1; cursor.next(); i++) {
        if (i == steps) {
          return new Bound(cursor.key(), false, false);
        }
      }
    }
    return reverse ? new Bound(KeySpace.FIRST, true, false) : new Bound(keysEnd, false, true);
  }
}
