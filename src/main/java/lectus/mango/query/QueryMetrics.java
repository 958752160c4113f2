package lectus.mango.query;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import lectus.mango.query.FindCursor.FindTail;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/** What queries have looked at, and what it was for. Thread-safe. */
public final class QueryMetrics implements Measured {
  /** What is counted. */
  public enum Count {
    /** Documents and rows of indexes that were compared with selectors. */
    EVALUATIONS,
    DOCUMENTS,
    /** Documents that were read for queries that ask for more than one copy. */
    QUORUM_DOCUMENTS,
    RESULTS,
    /** Queries that had no index. */
    UNINDEXED,
    /** Queries that could not use the index that they named. */
    OTHER_INDEX,
    /** Queries that read many documents for each that they returned. */
    WASTEFUL
  }

  private final Map<Count, LongAdder> counts = new EnumMap<>(Count.class);
  private final Histogram seconds = Histogram.ofTimes();

  public QueryMetrics() {
    for (Count count : Count.values()) {
      counts.put(count, new LongAdder());
    }
  }

  /** Adds what one part of an answer has looked at, whether another one follows or not. */
  void examined(FindRequest request, FindCursor from, FindCursor to) {
    Count read = request.quorum() > 1 ? Count.QUORUM_DOCUMENTS : Count.DOCUMENTS;
    add(Count.EVALUATIONS, to.keys() - from.keys());
    add(read, to.documents() - from.documents());
    add(Count.RESULTS, to.results() - from.results());
  }

  /** Counts a query that was answered as a whole. */
  void answered(FindTail tail, long nanos) {
    seconds.add(nanos);
    add(Count.UNINDEXED, tail.isUnindexed() ? 1 : 0);
    add(Count.OTHER_INDEX, tail.isOtherIndex() ? 1 : 0);
    add(Count.WASTEFUL, tail.isMuchExamined() ? 1 : 0);
  }

  private void add(Count count, long number) {
    counts.get(count).add(number);
  }

  public long sum(Count count) {
    return counts.get(count).sum();
  }

  public Histogram.State times() {
    return seconds.state();
  }

  @Override
  public void describe(Meters meters) {
    count(meters, "documents", "Documents that queries read.", Count.DOCUMENTS);
    count(meters, "results", "Documents that queries returned.", Count.RESULTS);
    count(meters, "unindexed", "Queries without an index.", Count.UNINDEXED);
    meters.spread("lectus_query_seconds", "From a query to the end of its answer.", seconds);
  }

  private void count(Meters meters, String name, String help, Count count) {
    meters.count("lectus_query_" + name, help, () -> sum(count));
  }
}
