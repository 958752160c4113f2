package lectus.store.testing;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.function.Consumer;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;

/**
 * The rows that one transaction left in an empty range of a store.
 *
 * @param stamp the transaction's ten bytes; null if it wrote nothing
 */
public record WrittenRows(List<KeyValue> rows, byte[] stamp) {
  /** Runs the encoder in a transaction, then reads the range. */
  public static WrittenRows of(Store store, Range range, Consumer<Transaction> encoder) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    CommitResult<Void> committed =
        transactions.runVersioned(
            tx -> {
              encoder.accept(tx);
              return null;
            });
    return new WrittenRows(
        transactions.read(tx -> Awaiting.await(tx.getRange(range).asList())),
        committed.versionstamp());
  }
}
