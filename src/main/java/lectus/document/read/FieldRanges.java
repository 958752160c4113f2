package lectus.document.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.json.FieldPath;
import lectus.tuple.TuplePrefixes;

/**
 * Where the leaves of some fields lie: the paths that follow a revision's key, in key order. No
 * path is equal to or below another.
 */
record FieldRanges(List<byte[]> paths) {
  static FieldRanges of(List<FieldPath> fields) {
    List<byte[]> all = new ArrayList<>();
    for (FieldPath field : fields) {
      all.addAll(field.prefixes());
    }
    all.sort(Arrays::compareUnsigned);
    List<byte[]> disjoint = new ArrayList<>();
    for (byte[] path : all) {
      if (disjoint.isEmpty()
          || !TuplePrefixes.isAtOrBelow(disjoint.get(disjoint.size() - 1), path)) {
        disjoint.add(path);
      }
    }
    return new FieldRanges(List.copyOf(disjoint));
  }

  /** Returns the length of the field to which the leaf belongs; 0 if it belongs to none. */
  int lengthAbove(byte[] bytes, int itsPath, int itsEnd) {
    int from = 0;
    int to = paths.size();
    while (from < to) {
      int middle = (from + to) >>> 1;
      byte[] path = paths.get(middle);
      if (Arrays.compareUnsigned(path, 0, path.length, bytes, itsPath, itsEnd) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from == 0 ? 0 : paths.get(from - 1).length;
  }

  boolean contain(byte[] path) {
    return paths.stream().anyMatch(it -> TuplePrefixes.isAtOrBelow(it, path));
  }
}
