package lectus.store.embedded.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.store.embedded.engine.CommitRequest.KeyRange;

/**
 * The write conflict ranges of all commits since the oldest version that can still be read. A
 * commit appends its ranges unsorted, and they are sorted when first queried. Old intervals are
 * merged eight at a time, so that an old transaction has few to search. Used by the committer only.
 */
public final class ConflictHistory {
  private static final int MERGE_FACTOR = 8;

  /** One interval: raw until queried, then a sorted run. */
  private static final class Interval {
    final int rank;
    final long version;
    final long weight;
    private List<KeyRange> raw;
    private WriteRun run;

    Interval(long version, List<KeyRange> raw, long weight) {
      this.rank = 0;
      this.version = version;
      this.weight = weight;
      this.raw = raw;
    }

    Interval(int rank, WriteRun run) {
      this.rank = rank;
      this.version = run.lastVersion();
      this.weight = run.weight();
      this.run = run;
    }

    WriteRun run() {
      if (run == null) {
        run = WriteRun.of(version, raw);
        raw = null;
      }
      return run;
    }
  }

  private final long maxBytes;
  private final List<Interval> intervals = new ArrayList<>();
  private long floor;
  private long weight;
  private long lastUnrecorded;

  /**
   * Creates an empty history.
   *
   * @param floor writes up to this version are unknown
   * @param maxBytes the limit of the history's size
   */
  public ConflictHistory(long floor, long maxBytes) {
    this.floor = floor;
    this.maxBytes = maxBytes;
  }

  /** Returns whether all writes after {@code version} are known. */
  public boolean reachesBackTo(long version) {
    return version >= floor;
  }

  /** Notes that {@code version} has writes outside all conflict ranges. */
  public void addUnrecorded(long version) {
    lastUnrecorded = version;
  }

  /**
   * Returns whether a commit after {@code version} may have written into {@code range}, including
   * writes that declared no conflict.
   */
  public boolean mayHaveChangedSince(long version, KeyRange range) {
    return version < lastUnrecorded || !reachesBackTo(version) || wroteSince(version, range);
  }

  /** Returns whether a commit after {@code version} wrote into {@code range}. */
  public boolean wroteSince(long version, KeyRange range) {
    for (int i = intervals.size() - 1; i >= 0; i--) {
      Interval interval = intervals.get(i);
      if (interval.version <= version) {
        return false;
      }
      if (interval.run().wroteSince(version, range.begin(), range.end())) {
        return true;
      }
    }
    return false;
  }

  /** Appends the write conflict ranges of the transactions of {@code version}. */
  public void add(long version, List<KeyRange> writes) {
    if (writes.isEmpty()) {
      return;
    }
    long bytes = 0;
    for (KeyRange range : writes) {
      bytes += range.bytes() + WriteRun.ENTRY_OVERHEAD_BYTES;
    }
    intervals.add(new Interval(version, writes, bytes));
    weight += bytes;
    mergeEqualRanks();
    dropAboveLimit();
  }

  public boolean isHalfFull() {
    return weight > maxBytes / 2;
  }

  /** Returns the version up to which writes are unknown. */
  public long floor() {
    return floor;
  }

  /** Discards the writes up to {@code version}, which nobody needs. */
  public void forgetUpTo(long version) {
    int dropped = 0;
    while (dropped < intervals.size() && intervals.get(dropped).version <= version) {
      weight -= intervals.get(dropped).weight;
      dropped++;
    }
    intervals.subList(0, dropped).clear();
    floor = Math.max(floor, version);
  }

  long weight() {
    return weight;
  }

  /** Never merges the newest interval: most transactions search only that one. */
  private void mergeEqualRanks() {
    int end = intervals.size() - 1;
    int begin = firstOfRankBefore(end);
    while (end - begin >= MERGE_FACTOR) {
      mergeIntervals(begin, end);
      end = begin + 1;
      begin = firstOfRankBefore(end);
    }
  }

  private int firstOfRankBefore(int end) {
    int begin = end;
    while (begin > 0 && intervals.get(begin - 1).rank == intervals.get(end - 1).rank) {
      begin--;
    }
    return begin;
  }

  private void mergeIntervals(int begin, int end) {
    List<Interval> replaced = intervals.subList(begin, end);
    int rank = replaced.get(0).rank + 1;
    for (Interval interval : replaced) {
      weight -= interval.weight;
    }
    Interval merged = new Interval(rank, mergeRuns(replaced));
    replaced.clear();
    intervals.add(begin, merged);
    weight += merged.weight;
  }

  private static WriteRun mergeRuns(List<Interval> neighbours) {
    if (neighbours.size() == 1) {
      return neighbours.get(0).run();
    }
    int middle = neighbours.size() / 2;
    return WriteRun.merge(
        mergeRuns(neighbours.subList(0, middle)),
        mergeRuns(neighbours.subList(middle, neighbours.size())));
  }

  private void dropAboveLimit() {
    int dropped = 0;
    while (weight > maxBytes && dropped < intervals.size()) {
      weight -= intervals.get(dropped).weight;
      floor = intervals.get(dropped).version;
      dropped++;
    }
    intervals.subList(0, dropped).clear();
  }

  /**
   * The writes of an interval of versions: disjoint ranges in key order, each with the newest
   * version that wrote it.
   */
  static final class WriteRun {
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
      Arrays.sort(sorted);
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
      return new WriteRun(
          version, version, merged.toArray(KeyRange[]::new), versions, weigh(merged));
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
     * Merges two sorted lists of disjoint ranges. Where they overlap, the newer list's version
     * wins.
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

  /** The ranges written so far by the transactions of one group. */
  public static final class GroupConflicts {
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
      copy.sort(null);
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
      return low < ranges.size()
          && Arrays.compareUnsigned(ranges.get(low).begin(), range.end()) < 0;
    }

    /** Most transactions of a group are of other databases, whose keys all lie on one side. */
    private static boolean isApart(List<KeyRange> ranges, KeyRange range) {
      return Arrays.compareUnsigned(ranges.get(0).begin(), range.end()) >= 0
          || Arrays.compareUnsigned(ranges.get(ranges.size() - 1).end(), range.begin()) <= 0;
    }
  }
}
