package lectus.store.embedded.engine.conflict;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The writes of an interval of versions: disjoint ranges in key order, each with the newest version
 * that wrote it.
 */
final class WriteRun {
  /** What an entry adds besides its keys, in bytes. */
  static final long ENTRY_OVERHEAD_BYTES = 64;

  private final long firstVersion;
  private final long lastVersion;
  private final KeyRange[] ranges;
  private final long[] versions;
  private final long weight;

  private WriteRun(
      long firstVersion, long lastVersion, KeyRange[] ranges, long[] versions, long weight) {
    this.firstVersion = firstVersion;
    this.lastVersion = lastVersion;
    this.ranges = ranges;
    this.versions = versions;
    this.weight = weight;
  }

  /** Returns the writes of one version, which may come in any order and overlap. */
  static WriteRun of(long version, List<KeyRange> writes) {
    KeyRange[] sorted = writes.toArray(KeyRange[]::new);
    Arrays.sort(sorted, Comparator.comparing(KeyRange::begin, Arrays::compareUnsigned));
    List<KeyRange> merged = new ArrayList<>(sorted.length);
    KeyRange last = null;
    for (KeyRange range : sorted) {
      if (last == null || Arrays.compareUnsigned(range.begin(), last.end()) >= 0) {
        merged.add(range);
        last = range;
      } else if (Arrays.compareUnsigned(range.end(), last.end()) > 0) {
        last = new KeyRange(last.begin(), range.end());
        merged.set(merged.size() - 1, last);
      }
    }
    long[] versions = new long[merged.size()];
    Arrays.fill(versions, version);
    return new WriteRun(version, version, merged.toArray(KeyRange[]::new), versions, weigh(merged));
  }

  /** Merges two adjacent intervals. Where both wrote, {@code newer} wins. */
  static WriteRun merge(WriteRun older, WriteRun newer) {
    RunMerge merge = new RunMerge(older.ranges.length + newer.ranges.length);
    merge.merge(older.ranges, older.versions, newer.ranges, newer.versions);
    return new WriteRun(
        older.firstVersion,
        newer.lastVersion,
        merge.ranges(),
        merge.versions(),
        weigh(Arrays.asList(merge.ranges())));
  }

  private static long weigh(List<KeyRange> ranges) {
    long bytes = 0;
    for (KeyRange range : ranges) {
      bytes += range.begin().length + range.end().length + ENTRY_OVERHEAD_BYTES;
    }
    return bytes;
  }

  long lastVersion() {
    return lastVersion;
  }

  int size() {
    return ranges.length;
  }

  long weight() {
    return weight;
  }

  /** Returns whether a version above {@code version} wrote into [begin, end). */
  boolean wroteSince(long version, byte[] begin, byte[] end) {
    if (lastVersion <= version) {
      return false;
    }
    for (int i = firstEndingAfter(begin); i < ranges.length; i++) {
      if (Arrays.compareUnsigned(ranges[i].begin(), end) >= 0) {
        return false;
      }
      if (firstVersion > version || versions[i] > version) {
        return true;
      }
    }
    return false;
  }

  private int firstEndingAfter(byte[] key) {
    int low = 0;
    int high = ranges.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Arrays.compareUnsigned(ranges[middle].end(), key) > 0) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
