package lectus.store.embedded.engine.commit;

import java.util.ArrayList;
import java.util.List;

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
      bytes += range.begin().length + range.end().length + WriteRun.ENTRY_OVERHEAD_BYTES;
    }
    intervals.add(new Interval(version, writes, bytes));
    weight += bytes;
    mergeEqualRanks();
    dropAboveLimit();
  }

  /** Returns whether more than half of the limit is used. */
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
}
