package lectus.mango.query;

import java.util.Optional;
import lectus.mango.query.FindPage.FindRow;

/**
 * How far a query has come.
 *
 * @param range the range that is read, counted in the direction of reading
 * @param last the last key that was read in it
 * @param shown the last key whose document is in the answer
 */
record FindCursor(
    int range,
    Optional<byte[]> last,
    Optional<byte[]> shown,
    long skip,
    long limit,
    long keys,
    long documents,
    long results) {
  static FindCursor begin(FindRequest request) {
    return new FindCursor(
        0, Optional.empty(), Optional.empty(), request.skip(), request.limit(), 0, 0, 0);
  }

  FindCursor at(FindRow row) {
    return new FindCursor(
        row.range(), Optional.of(row.key()), shown, skip, limit, keys + 1, documents, results);
  }

  /** Goes on behind a key that nothing was read of. */
  FindCursor from(byte[] key) {
    return new FindCursor(range, Optional.of(key), shown, skip, limit, keys, documents, results);
  }

  /** Returns the counts of this cursor at the place of another. */
  FindCursor atPlaceOf(FindCursor other) {
    return new FindCursor(
        other.range, other.last, other.shown, skip, limit, keys, documents, results);
  }

  FindCursor inRange(int number) {
    return new FindCursor(number, Optional.empty(), shown, skip, limit, keys, documents, results);
  }

  FindCursor examined() {
    return new FindCursor(range, last, shown, skip, limit, keys, documents + 1, results);
  }

  /** Whether no further document is asked for. */
  boolean hasAll() {
    return limit == 0;
  }

  FindCursor skipped() {
    return new FindCursor(range, last, shown, skip - 1, limit, keys, documents, results);
  }

  FindCursor shows() {
    return new FindCursor(range, last, last, skip, limit - 1, keys, documents, results + 1);
  }
}
