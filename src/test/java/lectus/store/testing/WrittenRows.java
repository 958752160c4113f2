package lectus.store.testing;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.function.Consumer;
import lectus.store.Committed;
import lectus.store.Reads;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * What one transaction left in an empty range of a store.
 *
 * @param stamp the ten bytes that the store gave it; null if it wrote nothing
 */
public record WrittenRows(List<KeyValue> rows, byte[] stamp) {
  /** Runs the encoder in a transaction and reads the range as it is then. */
  public static WrittenRows of(Store store, Range range, Consumer<Transaction> encoder) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    Committed<Void> committed =
        transactions.runVersioned(
            tx -> {
              encoder.accept(tx);
              return null;
            });
    return new WrittenRows(
        transactions.read(tx -> Reads.await(tx.getRange(range).asList())),
        committed.versionstamp());
  }
}
