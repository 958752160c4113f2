package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Transaction;
import java.util.Arrays;
import java.util.function.Consumer;
import lectus.store.Awaiting;

/**
 * What mends a finding, in one transaction. It changes what that transaction finds, so it may be
 * done beside writers, and does nothing if the finding is gone.
 *
 * @param step repairs of an earlier step come first: what others are made from
 * @param sentence what it does, without a full stop
 */
public record Repair(Step step, String sentence, Consumer<Transaction> change) {
  /** The order of repairs. After each step the store is checked again. */
  public enum Step {
    /** Rows that cannot be read, or belong to nothing. */
    ROWS,
    /** Documents: edit branches, and what is written with them. */
    DOCUMENTS,
    /** What else is made of documents. */
    DERIVED_ROWS,
    COUNTERS
  }

  static Repair of(Step step, String sentence, Consumer<Transaction> change) {
    return new Repair(step, sentence, change);
  }

  /** Removes a row, unless it has changed. */
  static Repair removing(KeyValue row) {
    return removing(Step.ROWS, row);
  }

  static Repair removing(Step step, KeyValue row) {
    return of(
        step,
        "the row is removed",
        tx -> {
          if (Arrays.equals(Awaiting.await(tx.get(row.getKey())), row.getValue())) {
            tx.clear(row.getKey());
          }
        });
  }
}
