package lectus.document.job;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.NewerFormatException;

/**
 * The jobs of all databases, some at a time, over and over. Jobs of kinds or formats of a later
 * version are left alone: servers of that version work on them.
 */
final class ListedJobs {
  static final int MOST_JOBS = 100;

  private final JobsSubspace jobs;
  private final TransactionRunner transactions;
  private Optional<byte[]> lookedAt = Optional.empty();

  ListedJobs(JobsSubspace jobs, TransactionRunner transactions) {
    this.jobs = jobs;
    this.transactions = transactions;
  }

  /**
   * Some jobs.
   *
   * @param failure why some other one cannot be read
   */
  record Some(List<Job> readable, Optional<RuntimeException> failure) {}

  /** Returns the next ones, or the first ones after the last. */
  Some next() {
    List<KeyValue> rows =
        transactions.read(tx -> Awaiting.await(jobs.behind(tx, lookedAt, MOST_JOBS)));
    lookedAt =
        rows.size() == MOST_JOBS
            ? Optional.of(rows.get(rows.size() - 1).getKey())
            : Optional.empty();
    List<Job> readable = new ArrayList<>();
    Optional<RuntimeException> failure = Optional.empty();
    for (KeyValue row : rows) {
      try {
        readable.add(jobs.decode(row));
      } catch (NewerFormatException ofLaterVersion) {
        continue;
      } catch (MalformedTupleException | IllegalArgumentException damaged) {
        failure = Optional.of(damaged);
      }
    }
    return new Some(readable, failure);
  }
}
