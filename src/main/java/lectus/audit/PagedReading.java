package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import java.util.function.Function;
import lectus.store.Reads;
import lectus.store.TransactionRunner;

/** Reads each time at a version of its own, so it may take as long as it takes. */
record PagedReading(TransactionRunner transactions, ReadVersions versions) implements Reading {
  @Override
  public <T> T read(Function<? super ReadTransaction, ? extends T> body) {
    return transactions.read(
        tx -> {
          versions.include(Reads.await(tx.getReadVersion()));
          return body.apply(tx);
        });
  }

  @Override
  public boolean isOneVersion() {
    return false;
  }
}
