package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import lectus.store.Awaiting;
import lectus.tuple.MalformedTupleException;

/** Reports rows of one place that cannot be read, and those that belong to nothing. */
record RowsCheck(Reading reading, AuditReport report, String place) {
  /** The most keys reported of one gap; the others would look the same. */
  private static final int MOST_NAMED = 10;

  /**
   * Checks each row of a range.
   *
   * @param what names a row that cannot be read
   */
  void each(String what, Range range, Consumer<KeyValue> check) {
    RowCursor rows = new RowCursor(reading, range);
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      try {
        check.accept(row);
      } catch (MalformedTupleException | IllegalArgumentException malformed) {
        report.add(place, Texts.unreadable(what, row.getKey(), malformed));
      }
    }
  }

  /**
   * Reports keys between the known ranges.
   *
   * @param whole the range that may hold nothing else
   * @param known ranges in it, none inside another
   * @param what the description of a key in a gap
   */
  void others(Range whole, List<Range> known, String what) {
    List<Range> sorted = new ArrayList<>(known);
    sorted.sort(Comparator.comparing(range -> range.begin, ByteArrayUtil::compareUnsigned));
    byte[] begin = whole.begin;
    for (Range range : sorted) {
      gap(new Range(begin, range.begin), what);
      begin = range.end;
    }
    gap(new Range(begin, whole.end), what);
  }

  private void gap(Range gap, String what) {
    if (ByteArrayUtil.compareUnsigned(gap.begin, gap.end) >= 0) {
      return;
    }
    List<KeyValue> rows =
        reading.read(tx -> Awaiting.await(tx.getRange(gap, MOST_NAMED + 1).asList()));
    for (KeyValue row : rows.subList(0, Math.min(rows.size(), MOST_NAMED))) {
      report.add(place, what + ", the key " + Texts.key(row.getKey()));
    }
    if (rows.size() > MOST_NAMED) {
      report.add(place, what + ", and more of them behind that");
    }
  }
}
