package lectus.store.embedded.engine.commit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The ranges written so far by the transactions of one group. */
public final class GroupConflicts {
  private final List<List<KeyRange>> sorted = new ArrayList<>();

  /** Adds the write conflict ranges of one transaction, merged and in key order. */
  public void add(List<KeyRange> ranges) {
    if (!ranges.isEmpty()) {
      sorted.add(ranges);
    }
  }

  /** Adds disjoint ranges in any order. */
  public void addUnsorted(List<KeyRange> ranges) {
    List<KeyRange> copy = new ArrayList<>(ranges);
    copy.sort(Comparator.comparing(KeyRange::begin, Arrays::compareUnsigned));
    sorted.add(copy);
  }

  public boolean wrote(KeyRange range) {
    for (List<KeyRange> ranges : sorted) {
      if (overlaps(ranges, range)) {
        return true;
      }
    }
    return false;
  }

  private static boolean overlaps(List<KeyRange> ranges, KeyRange range) {
    if (isApart(ranges, range)) {
      return false;
    }
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

  /** Most transactions of a group are of other databases, whose keys all lie on one side. */
  private static boolean isApart(List<KeyRange> ranges, KeyRange range) {
    return Arrays.compareUnsigned(ranges.get(0).begin(), range.end()) >= 0
        || Arrays.compareUnsigned(ranges.get(ranges.size() - 1).end(), range.begin()) <= 0;
  }
}
