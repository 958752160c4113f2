package lectus.mango.query;

import com.apple.foundationdb.Range;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.Partition;
import lectus.derived.SortKey;
import lectus.derived.StoredIndex;
import lectus.derived.ValueRange;
import lectus.derived.rows.IndexEntriesSubspace;
import lectus.document.read.AllDocsSubspace;
import lectus.json.JsonValue.JsonString;
import lectus.json.TupleWriter;

/**
 * The ranges of keys that a query reads: of the index's first columns, those values that the
 * selector allows. Several alternatives make several ranges. A range may have more than matches,
 * but never less: the selector decides.
 */
record ReadRanges(DatabaseHandle db, FindRequest request, IndexCandidate candidate) {
  private static final String ID = "_id";

  /** Returns them in the order of the store, none overlapping another. */
  List<Range> all() {
    List<Range> ranges = new ArrayList<>();
    for (Map<String, Optional<ValueRange>> values :
        request.normal().alternatives(candidate.columns())) {
      List<Optional<ValueRange>> prefix = candidate.prefix(values);
      if (prefix.stream().allMatch(Optional::isPresent)
          && values.values().stream().allMatch(Optional::isPresent)) {
        of(prefix.stream().map(Optional::orElseThrow).toList()).ifPresent(ranges::add);
      }
    }
    return merged(ranges);
  }

  private static List<Range> merged(List<Range> ranges) {
    List<Range> sorted = new ArrayList<>(ranges);
    sorted.sort(Comparator.comparing(range -> range.begin, Arrays::compareUnsigned));
    List<Range> merged = new ArrayList<>();
    for (Range range : sorted) {
      int last = merged.size() - 1;
      if (last >= 0 && Arrays.compareUnsigned(range.begin, merged.get(last).end) <= 0) {
        Range former = merged.get(last);
        boolean isLonger = Arrays.compareUnsigned(range.end, former.end) > 0;
        merged.set(last, new Range(former.begin, isLonger ? range.end : former.end));
      } else {
        merged.add(range);
      }
    }
    return merged;
  }

  private Optional<Range> of(List<ValueRange> prefix) {
    return candidate
        .index()
        .map(index -> ofIndex(index, prefix))
        .orElseGet(() -> ofIds(prefix))
        .filter(range -> Arrays.compareUnsigned(range.begin, range.end) < 0);
  }

  private Optional<Range> ofIndex(StoredIndex index, List<ValueRange> prefix) {
    IndexEntriesSubspace entries = new IndexEntriesSubspace(db, index);
    int valueBytes = index.definition().valueBytes();
    TupleWriter head = new TupleWriter(64);
    int column = 0;
    while (column < prefix.size() && prefix.get(column).isOne()) {
      head.raw(SortKey.of(prefix.get(column).low().get().value(), valueBytes).bytes());
      column++;
    }
    boolean isOrdered = column < prefix.size() && !candidate.columns().get(column).equals(ID);
    ValueRange last = isOrdered ? prefix.get(column) : ValueRange.ALL;
    byte[] low = last.low().map(it -> low(entries, head, it, valueBytes)).orElse(null);
    byte[] high = last.high().map(it -> high(entries, head, it, valueBytes)).orElse(null);
    byte[] whole =
        head.length() == 0
            ? entries.begin(request.partition())
            : entries.from(request.partition(), head.toBytes());
    return Optional.of(
        new Range(
            low == null ? whole : low, high == null ? IndexEntriesSubspace.endOf(whole) : high));
  }

  private byte[] low(
      IndexEntriesSubspace entries, TupleWriter head, ValueRange.Bound bound, int valueBytes) {
    SortKey key = SortKey.of(bound.value(), valueBytes);
    byte[] from = from(entries, head, key);
    return bound.inclusive() || key.isCut() ? from : IndexEntriesSubspace.endOf(from);
  }

  private byte[] high(
      IndexEntriesSubspace entries, TupleWriter head, ValueRange.Bound bound, int valueBytes) {
    SortKey key = SortKey.of(bound.value(), valueBytes);
    byte[] from = from(entries, head, key);
    return bound.inclusive() || key.isCut() ? IndexEntriesSubspace.endOf(from) : from;
  }

  private byte[] from(IndexEntriesSubspace entries, TupleWriter head, SortKey key) {
    byte[] sortKey = new TupleWriter(head.toBytes()).raw(key.bytes()).toBytes();
    return entries.from(request.partition(), sortKey);
  }

  /**
   * Returns the range of ids, whose order is that of their bytes; other values come before them.
   */
  private Optional<Range> ofIds(List<ValueRange> prefix) {
    AllDocsSubspace rows = new AllDocsSubspace(db);
    byte[] begin = request.partition().map(Partition::firstId).map(rows::key).orElse(rows.begin());
    byte[] end = request.partition().map(Partition::endId).map(rows::key).orElse(rows.end());
    ValueRange ids = prefix.isEmpty() ? ValueRange.ALL : prefix.get(0);
    byte[] low = ids.low().map(it -> bound(rows, it, !it.inclusive())).orElse(begin);
    byte[] high = ids.high().map(it -> bound(rows, it, it.inclusive())).orElse(end);
    return Optional.of(new Range(later(begin, low), later(high, end) == high ? end : high));
  }

  private static byte[] bound(AllDocsSubspace rows, ValueRange.Bound bound, boolean isBehind) {
    if (bound.value() instanceof JsonString id) {
      byte[] key = rows.key(id.value());
      return isBehind ? Arrays.copyOf(key, key.length + 1) : key;
    }
    return rows.begin();
  }

  private static byte[] later(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other) >= 0 ? one : other;
  }
}
