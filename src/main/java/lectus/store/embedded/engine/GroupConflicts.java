package lectus.store.embedded.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The ranges written by the transactions of one group so far. */
final class GroupConflicts {
  private final List<List<KeyRange>> sorted = new ArrayList<>();

  /** Adds the write conflict ranges of one transaction, merged and in key order. */
  void add(List<KeyRange> ranges) {
    if (!ranges.isEmpty()) {
      sorted.add(ranges);
    }
  }

  /** Adds ranges in any order that do not overlap each other. */
  void addUnsorted(List<KeyRange> ranges) {
    List<KeyRange> copy = new ArrayList<>(ranges);
    copy.sort(Comparator.comparing(KeyRange::begin, Arrays::compareUnsigned));
    sorted.add(copy);
  }

  boolean wrote(KeyRange range) {
    for (List<KeyRange> ranges : sorted) {
      if (overlaps(ranges, range)) {
        return true;
      }
    }
    return false;
  }

  private static boolean overlaps(List<KeyRange> ranges, KeyRange range) {
    int low = 0;
    int high = ranges.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Arrays.compareUnsigned(ranges.get(middle).end(), range.begin()) > 0) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low < ranges.size() && Arrays.compareUnsigned(ranges.get(low).begin(), range.end()) < 0;
  }
}
