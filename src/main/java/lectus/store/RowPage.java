package lectus.store;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A page of a range that may be too long for one transaction. It holds at most 10 000 rows and ends
 * with the row whose key and value bring the total to 1 MiB.
 *
 * @param next the beginning of the next page; empty after the last page
 */
public record RowPage(List<KeyValue> rows, Optional<byte[]> next) {
  private static final int MAX_ROWS = 10_000;
  private static final int ENOUGH_BYTES = 1 << 20;

  /** Reads the first page of the range from {@code begin}, inclusive, to {@code end}, exclusive. */
  public static RowPage read(ReadTransaction tx, byte[] begin, byte[] end) {
    List<KeyValue> rows = new ArrayList<>();
    long bytes = 0;
    AsyncIterator<KeyValue> iterator =
        tx.getRange(begin, end, MAX_ROWS, false, StreamingMode.WANT_ALL).iterator();
    try {
      while (bytes < ENOUGH_BYTES && iterator.hasNext()) {
        KeyValue row = iterator.next();
        rows.add(row);
        bytes += row.getKey().length + row.getValue().length;
      }
    } finally {
      iterator.cancel();
    }
    boolean isLast = bytes < ENOUGH_BYTES && rows.size() < MAX_ROWS;
    return new RowPage(rows, isLast ? Optional.empty() : Optional.of(behindLast(rows)));
  }

  private static byte[] behindLast(List<KeyValue> rows) {
    return ByteArrayUtil.join(rows.get(rows.size() - 1).getKey(), new byte[1]);
  }
}
