package lectus.mango.query;

import java.util.concurrent.atomic.LongAdder;
import lectus.mango.query.FindCursor.FindTail;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/** What queries have looked at, and what it was for. Thread-safe. */
public final class QueryMetrics implements Measured {
  private final LongAdder keys = new LongAdder();
  private final LongAdder documents = new LongAdder();
  private final LongAdder quorumDocuments = new LongAdder();
  private final LongAdder results = new LongAdder();
  private final LongAdder unindexed = new LongAdder();
  private final LongAdder otherIndex = new LongAdder();
  private final LongAdder wasteful = new LongAdder();
  private final Histogram seconds = Histogram.ofTimes();

  /** Adds what one part of an answer has looked at, whether another one follows or not. */
  void examined(FindRequest request, FindCursor from, FindCursor to) {
    LongAdder read = request.quorum() > 1 ? quorumDocuments : documents;
    keys.add(to.keys() - from.keys());
    read.add(to.documents() - from.documents());
    results.add(to.results() - from.results());
  }

  /** Counts a query that was answered as a whole. */
  void answered(FindTail tail, long nanos) {
    seconds.add(nanos);
    count(unindexed, tail.isUnindexed());
    count(otherIndex, tail.isOtherIndex());
    count(wasteful, tail.isMuchExamined());
  }

  private static void count(LongAdder counter, boolean isOne) {
    if (isOne) {
      counter.increment();
    }
  }

  /** Returns how many documents and rows of indexes were compared with selectors. */
  public long evaluations() {
    return keys.sum();
  }

  public long documents() {
    return documents.sum();
  }

  /** Returns how many documents were read for queries that ask for more than one copy. */
  public long quorumDocuments() {
    return quorumDocuments.sum();
  }

  public long results() {
    return results.sum();
  }

  /** Returns how many queries had no index. */
  public long unindexed() {
    return unindexed.sum();
  }

  /** Returns how many queries could not use the index that they named. */
  public long otherIndex() {
    return otherIndex.sum();
  }

  /** Returns how many queries read many documents for each that they returned. */
  public long wasteful() {
    return wasteful.sum();
  }

  public Histogram.State times() {
    return seconds.state();
  }

  @Override
  public void describe(Meters meters) {
    meters.count("lectus_query_documents", "Documents that queries read.", documents::sum);
    meters.count("lectus_query_results", "Documents that queries returned.", results::sum);
    meters.count("lectus_query_unindexed", "Queries without an index.", unindexed::sum);
    meters.spread("lectus_query_seconds", "From a query to the end of its answer.", seconds);
  }
}
