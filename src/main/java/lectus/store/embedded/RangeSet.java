package lectus.store.embedded;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A set of keys kept as disjoint half-open ranges; touching ranges are joined. */
final class RangeSet {
  /** Each range's end by its begin. */
  private final TreeMap<byte[], byte[]> ends = new TreeMap<>(Keys::compare);

  boolean isEmpty() {
    return ends.isEmpty();
  }

  boolean contains(byte[] key) {
    return endOfRangeWith(key) != null;
  }

  /** The end of the range that holds {@code key}, or null. */
  byte[] endOfRangeWith(byte[] key) {
    Map.Entry<byte[], byte[]> range = ends.floorEntry(key);
    return range != null && Keys.compare(key, range.getValue()) < 0 ? range.getValue() : null;
  }

  void add(byte[] begin, byte[] end) {
    byte[] from = begin;
    byte[] to = end;
    Map.Entry<byte[], byte[]> before = ends.floorEntry(begin);
    if (before != null && Keys.compare(before.getValue(), begin) >= 0) {
      from = before.getKey();
      to = Keys.max(to, before.getValue());
    }
    Map.Entry<byte[], byte[]> last = ends.floorEntry(end);
    if (last != null && Keys.compare(last.getKey(), from) >= 0) {
      to = Keys.max(to, last.getValue());
    }
    ends.subMap(from, true, to, true).clear();
    ends.put(from, to);
  }

  void remove(byte[] begin, byte[] end) {
    Map.Entry<byte[], byte[]> before = ends.lowerEntry(begin);
    Map.Entry<byte[], byte[]> last = ends.lowerEntry(end);
    if (last == null) {
      return;
    }
    byte[] lastEnd = last.getValue();
    ends.subMap(begin, true, end, false).clear();
    if (before != null && Keys.compare(before.getValue(), begin) > 0) {
      ends.put(before.getKey(), begin);
    }
    if (Keys.compare(lastEnd, end) > 0) {
      ends.put(end, lastEnd);
    }
  }

  boolean intersects(byte[] begin, byte[] end) {
    Map.Entry<byte[], byte[]> last = ends.lowerEntry(end);
    return last != null && Keys.compare(last.getValue(), begin) > 0;
  }

  /** The ranges that share a key with {@code [begin, end)}, whole, in key order. */
  NavigableMap<byte[], byte[]> intersecting(byte[] begin, byte[] end) {
    if (Keys.compare(begin, end) >= 0) {
      return new TreeMap<>(Keys::compare);
    }
    Map.Entry<byte[], byte[]> first = ends.floorEntry(begin);
    boolean reachesIn = first != null && Keys.compare(first.getValue(), begin) > 0;
    return ends.subMap(reachesIn ? first.getKey() : begin, true, end, false);
  }

  /** All ranges, each end by its begin. */
  NavigableMap<byte[], byte[]> all() {
    return ends;
  }
}
