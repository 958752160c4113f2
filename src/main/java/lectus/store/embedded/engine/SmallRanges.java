package lectus.store.embedded.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;
import lectus.store.embedded.engine.conflict.KeyRange;

/** Cleared ranges whose space is to be reclaimed once the store is at rest. */
final class SmallRanges {
  /** Further ones are left to ordinary compactions. */
  static final int MOST = 1_000;

  private final List<KeyRange> ranges = new ArrayList<>();

  synchronized void add(KeyRange range) {
    if (ranges.size() < MOST) {
      ranges.add(range);
    }
  }

  synchronized boolean isEmpty() {
    return ranges.isEmpty();
  }

  /**
   * Returns all ranges and forgets them. Neighbours are joined where less lies between them than in
   * them, so that few compactions reclaim many small ranges and rewrite little else.
   *
   * @param bytes how much is stored in a range
   */
  List<KeyRange> take(ToLongFunction<KeyRange> bytes) {
    List<KeyRange> joined = new ArrayList<>();
    for (KeyRange next : sorted()) {
      KeyRange last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
      if (last != null && isNear(last, next, bytes)) {
        joined.set(joined.size() - 1, new KeyRange(last.begin(), later(last.end(), next.end())));
      } else {
        joined.add(next);
      }
    }
    return joined;
  }

  private synchronized List<KeyRange> sorted() {
    List<KeyRange> all = new ArrayList<>(ranges);
    ranges.clear();
    all.sort((one, other) -> Arrays.compareUnsigned(one.begin(), other.begin()));
    return all;
  }

  private static boolean isNear(KeyRange last, KeyRange next, ToLongFunction<KeyRange> bytes) {
    return Arrays.compareUnsigned(next.begin(), last.end()) <= 0
        || bytes.applyAsLong(new KeyRange(last.end(), next.begin()))
            < bytes.applyAsLong(last) + bytes.applyAsLong(next);
  }

  private static byte[] later(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other) >= 0 ? one : other;
  }
}
