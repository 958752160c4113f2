package lectus.store.embedded;

import com.apple.foundationdb.KeyValue;
import java.util.List;

/**
 * Consecutive rows of a range.
 *
 * @param more whether the row limit or the size limit ended the fetch
 */
record RangeChunk(List<KeyValue> rows, boolean more) {
  static final RangeChunk EMPTY = new RangeChunk(List.of(), false);

  /** Returns a copy: rows belong to the caller, who may modify their arrays. */
  byte[] firstKey() {
    return rows.get(0).getKey().clone();
  }

  /** Returns a copy, as {@link #firstKey} does. */
  byte[] lastKey() {
    return rows.get(rows.size() - 1).getKey().clone();
  }
}
