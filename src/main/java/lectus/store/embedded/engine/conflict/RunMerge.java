package lectus.store.embedded.engine.conflict;

import java.util.Arrays;

/**
 * Merges two sorted lists of disjoint ranges. Where they overlap, the newer list's version wins.
 */
final class RunMerge {
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
