package lectus.store.embedded.engine.commit;

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

  /**
   * Merges two sorted lists of disjoint ranges. Where they overlap, the newer list's version wins.
   */
  private static final class RunMerge {
    private KeyRange[] ranges;
    private long[] versions;
    private int size;

    RunMerge(int expected) {
      ranges = new KeyRange[Math.max(1, expected)];
      versions = new long[ranges.length];
    }

    KeyRange[] ranges() {
      return Arrays.copyOf(ranges, size);
    }

    long[] versions() {
      return Arrays.copyOf(versions, size);
    }

    void merge(KeyRange[] older, long[] olderVersions, KeyRange[] newer, long[] newerVersions) {
      int n = 0;
      for (int o = 0; o < older.length; o++) {
        byte[] from = older[o].begin();
        byte[] end = older[o].end();
        while (n < newer.length && Arrays.compareUnsigned(newer[n].begin(), end) < 0) {
          if (Arrays.compareUnsigned(from, newer[n].begin()) < 0) {
            add(from, newer[n].begin(), olderVersions[o]);
          }
          if (Arrays.compareUnsigned(newer[n].end(), from) > 0) {
            from = newer[n].end();
          }
          if (Arrays.compareUnsigned(newer[n].end(), end) > 0) {
            break;
          }
          add(newer[n], newerVersions[n]);
          n++;
        }
        if (Arrays.compareUnsigned(from, end) < 0) {
          if (from == older[o].begin()) {
            add(older[o], olderVersions[o]);
          } else {
            add(from, end, olderVersions[o]);
          }
        }
      }
      while (n < newer.length) {
        add(newer[n], newerVersions[n]);
        n++;
      }
    }

    private void add(byte[] begin, byte[] end, long version) {
      add(new KeyRange(begin, end), version);
    }

    private void add(KeyRange range, long version) {
      if (size == ranges.length) {
        ranges = Arrays.copyOf(ranges, size * 2);
        versions = Arrays.copyOf(versions, size * 2);
      }
      ranges[size] = range;
      versions[size++] = version;
    }
  }
}
