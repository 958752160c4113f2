package lectus.store.embedded;

import com.apple.foundationdb.KeyValue;
import java.util.List;

/**
 * Consecutive rows of a range.
 *
 * @param more whether the fetch was stopped by its row limit or its size
 */
record RangeChunk(List<KeyValue> rows, boolean more) {
  static final RangeChunk EMPTY = new RangeChunk(List.of(), false);

  /** A copy: rows belong to the caller, who may write into their arrays. */
  byte[] firstKey() {
    return rows.get(0).getKey().clone();
  }

  /** A copy, as well. */
  byte[] lastKey() {
    return rows.get(rows.size() - 1).getKey().clone();
  }
}
