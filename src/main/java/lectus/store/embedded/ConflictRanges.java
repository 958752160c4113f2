package lectus.store.embedded;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.store.embedded.engine.commit.KeyRange;

/**
 * The ranges that a transaction has read or written. Adding is cheap; they are merged at commit.
 */
final class ConflictRanges {
  private static final int FIRST_BOUNDS = 16;
  private static final byte[][] NONE = {};

  /** The begin and end of each range in turn. The end is null for a single key's range. */
  private byte[][] bounds = NONE;

  private int length;

  boolean isEmpty() {
    return length == 0;
  }

  void addKey(byte[] key) {
    add(key, null);
  }

  void add(byte[] begin, byte[] end) {
    if (length == bounds.length) {
      bounds = Arrays.copyOf(bounds, Math.max(FIRST_BOUNDS, 2 * length));
    }
    bounds[length++] = begin;
    bounds[length++] = end;
  }

  /** Returns the ranges sorted, with overlapping and touching ranges merged. */
  List<KeyRange> merged() {
    List<KeyRange> sorted = sorted();
    if (sorted.size() < 2) {
      return sorted;
    }
    List<KeyRange> merged = new ArrayList<>(sorted.size());
    KeyRange open = sorted.get(0);
    for (int i = 1; i < sorted.size(); i++) {
      KeyRange next = sorted.get(i);
      if (KeySpace.compare(next.begin(), open.end()) > 0) {
        merged.add(open);
        open = next;
      } else if (KeySpace.compare(next.end(), open.end()) > 0) {
        open = new KeyRange(open.begin(), next.end());
      }
    }
    merged.add(open);
    return merged;
  }

  private List<KeyRange> sorted() {
    List<KeyRange> ranges = new ArrayList<>(length / 2);
    boolean inOrder = true;
    for (int i = 0; i < length; i += 2) {
      byte[] begin = bounds[i];
      byte[] end = bounds[i + 1];
      inOrder &= i == 0 || KeySpace.compare(bounds[i - 2], begin) <= 0;
      ranges.add(end == null ? KeyRange.of(begin) : new KeyRange(begin, end));
    }
    if (!inOrder) {
      ranges.sort((a, b) -> KeySpace.compare(a.begin(), b.begin()));
    }
    return ranges;
  }
}
