package lectus.jobs;

import java.util.Optional;
import lectus.database.Sequence;
import lectus.store.LeaseSubspace.Claim;

/**
 * How far the task of one changes shard is.
 *
 * @param isDone whether all entries that the job is about have been looked at
 * @param claim who performs it; empty if nobody does
 * @param documents looked at so far
 * @param rows written so far
 * @param last the last entry that was looked at
 */
public record TaskProgress(
    boolean isDone, Optional<Claim> claim, long documents, long rows, Optional<Sequence> last) {
  static final TaskProgress NONE =
      new TaskProgress(false, Optional.empty(), 0, 0, Optional.empty());

  /** Whether an entry has been looked at. */
  public boolean hasPassed(Sequence sequence) {
    return isDone || last.filter(it -> sequence.compareTo(it) <= 0).isPresent();
  }

  TaskProgress claimedBy(Claim holder) {
    return new TaskProgress(isDone, Optional.of(holder), documents, rows, last);
  }

  TaskProgress givenBack() {
    return new TaskProgress(isDone, Optional.empty(), documents, rows, last);
  }

  TaskProgress done() {
    return new TaskProgress(true, Optional.empty(), documents, rows, last);
  }

  TaskProgress upTo(Sequence sequence, long moreDocuments, long moreRows) {
    return new TaskProgress(
        isDone, claim, documents + moreDocuments, rows + moreRows, Optional.of(sequence));
  }
}
