package lectus.store;

import com.apple.foundationdb.FDBException;
import java.util.concurrent.atomic.LongAdder;
import lectus.error.FoundationDbError;
import lectus.metrics.Counting;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/** What has become of a store's transactions. Thread-safe. */
public final class TransactionMetrics implements Measured {
  private final LongAdder begun = new LongAdder();
  private final LongAdder conflicts = new LongAdder();
  final LongAdder retries = new LongAdder();
  private final LongAdder unknown = new LongAdder();
  final LongAdder failed = new LongAdder();
  final Histogram commits = Histogram.ofTimes();

  void begin() {
    if (Counting.IS_ON) {
      begun.increment();
    }
  }

  /** A run ended with a failure; another one may follow. */
  void lost(RuntimeException failure) {
    if (failure instanceof FDBException lost) {
      if (FoundationDbError.NOT_COMMITTED.is(lost.getCode())) {
        conflicts.increment();
      } else if (FoundationDbError.isUnknownResult(lost.getCode())) {
        unknown.increment();
      }
    }
  }

  /** Returns the number of commits that were stored. */
  public long commits() {
    return commits.state().count();
  }

  @Override
  public void describe(Meters meters) {
    meters.count("lectus_transactions", "Transactions begun, reads included.", begun::sum);
    meters.count("lectus_transaction_conflicts", "Runs that met a conflict.", conflicts::sum);
    meters.count("lectus_transaction_retries", "Runs after the first one.", retries::sum);
    meters.count(
        "lectus_transaction_unknown_results",
        "Commits of which the store did not say whether they are stored.",
        unknown::sum);
    meters.count(
        "lectus_transaction_failures",
        "Transactions that ended with an error, be it the client's.",
        failed::sum);
    meters.spread(
        "lectus_commit_seconds", "From a commit's sending to the store's answer.", commits);
  }
}
