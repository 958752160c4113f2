package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import lectus.store.Awaiting;

/** Reports keys that belong to nothing: those between the known ranges. */
record Gaps(Reading reading, AuditReport report, String place) {
  /** The most keys reported of one gap; the others would look the same. */
  private static final int MOST_NAMED = 10;

  /**
   * @param whole the range that may hold nothing else
   * @param known ranges in it, none inside another
   * @param what the description of a key in a gap
   */
  void check(Range whole, List<Range> known, String what) {
    List<Range> sorted = new ArrayList<>(known);
    sorted.sort(Comparator.comparing(range -> range.begin, ByteArrayUtil::compareUnsigned));
    byte[] begin = whole.begin;
    for (Range range : sorted) {
      check(new Range(begin, range.begin), what);
      begin = range.end;
    }
    check(new Range(begin, whole.end), what);
  }

  private void check(Range gap, String what) {
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
