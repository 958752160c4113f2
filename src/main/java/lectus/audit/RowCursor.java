package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.List;

/** The rows of a range in their order, a page of bounded size at a time. */
final class RowCursor {
  private static final int PAGE_BYTES = 1 << 20;
  private static final int PAGE_ROWS = 10_000;

  private final Reading reading;
  private final byte[] end;
  private byte[] begin;
  private List<KeyValue> page = List.of();
  private int position;
  private boolean isLastPage;

  RowCursor(Reading reading, Range range) {
    this.reading = reading;
    this.begin = range.begin;
    this.end = range.end;
  }

  boolean hasNext() {
    while (position == page.size() && !isLastPage) {
      page = reading.read(this::readPage);
      position = 0;
    }
    return position < page.size();
  }

  /** The next row, which {@link #next} will give. */
  KeyValue peek() {
    if (!hasNext()) {
      throw new IllegalStateException("No row is left");
    }
    return page.get(position);
  }

  KeyValue next() {
    KeyValue row = peek();
    position++;
    return row;
  }

  private List<KeyValue> readPage(ReadTransaction tx) {
    List<KeyValue> rows = new ArrayList<>();
    long bytes = 0;
    AsyncIterator<KeyValue> iterator =
        tx.getRange(begin, end, PAGE_ROWS, false, StreamingMode.WANT_ALL).iterator();
    try {
      while (bytes < PAGE_BYTES && iterator.hasNext()) {
        KeyValue row = iterator.next();
        rows.add(row);
        bytes += row.getKey().length + row.getValue().length;
      }
    } finally {
      iterator.cancel();
    }
    isLastPage = bytes < PAGE_BYTES && rows.size() < PAGE_ROWS;
    if (!rows.isEmpty()) {
      byte[] last = rows.get(rows.size() - 1).getKey();
      begin = ByteArrayUtil.join(last, new byte[1]);
    }
    return rows;
  }
}
