package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.List;
import java.util.Optional;
import lectus.store.RowPage;

/** Iterates over the rows of a range in order, a page of bounded size at a time. */
final class RowCursor {
  private final Reading reading;
  private final byte[] end;
  private Optional<byte[]> begin;
  private List<KeyValue> page = List.of();
  private int position;

  RowCursor(Reading reading, Range range) {
    this.reading = reading;
    this.begin = Optional.of(range.begin);
    this.end = range.end;
  }

  boolean hasNext() {
    while (position == page.size() && begin.isPresent()) {
      byte[] from = begin.get();
      RowPage read = reading.read(tx -> RowPage.read(tx, from, end));
      page = read.rows();
      begin = read.next();
      position = 0;
    }
    return position < page.size();
  }

  /** Returns the row that {@link #next} will return. */
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
}
