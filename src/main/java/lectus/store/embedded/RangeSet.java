package lectus.store.embedded;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A set of keys stored as disjoint half-open ranges. Touching ranges are merged. */
final class RangeSet {
  /** Maps the begin of each range to its end. */
  private final TreeMap<byte[], byte[]> ends = new TreeMap<>(KeySpace::compare);

  boolean isEmpty() {
    return ends.isEmpty();
  }

  boolean contains(byte[] key) {
    return endOfRangeWith(key) != null;
  }

  /** Returns the end of the range that contains {@code key}, or null. */
  byte[] endOfRangeWith(byte[] key) {
    Map.Entry<byte[], byte[]> range = ends.floorEntry(key);
    return range != null && KeySpace.compare(key, range.getValue()) < 0 ? range.getValue() : null;
  }

  void add(byte[] begin, byte[] end) {
    byte[] from = begin;
    byte[] to = end;
    Map.Entry<byte[], byte[]> before = ends.floorEntry(begin);
    if (before != null && KeySpace.compare(before.getValue(), begin) >= 0) {
      from = before.getKey();
      to = KeySpace.max(to, before.getValue());
    }
    Map.Entry<byte[], byte[]> last = ends.floorEntry(end);
    if (last != null && KeySpace.compare(last.getKey(), from) >= 0) {
      to = KeySpace.max(to, last.getValue());
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
    if (before != null && KeySpace.compare(before.getValue(), begin) > 0) {
      ends.put(before.getKey(), begin);
    }
    if (KeySpace.compare(lastEnd, end) > 0) {
      ends.put(end, lastEnd);
    }
  }

  boolean intersects(byte[] begin, byte[] end) {
    Map.Entry<byte[], byte[]> last = ends.lowerEntry(end);
    return last != null && KeySpace.compare(last.getValue(), begin) > 0;
  }

  /** Returns the whole ranges that overlap {@code [begin, end)}, in key order. */
  NavigableMap<byte[], byte[]> intersecting(byte[] begin, byte[] end) {
    if (KeySpace.compare(begin, end) >= 0) {
      return new TreeMap<>(KeySpace::compare);
    }
    Map.Entry<byte[], byte[]> first = ends.floorEntry(begin);
    boolean reachesIn = first != null && KeySpace.compare(first.getValue(), begin) > 0;
    return ends.subMap(reachesIn ? first.getKey() : begin, true, end, false);
  }

  /** Returns all ranges, each begin mapped to its end. */
  NavigableMap<byte[], byte[]> all() {
    return ends;
  }
}
