package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import java.util.function.Function;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Reads each time at a new version, so an audit may take as long as it needs. */
record PagedReading(TransactionRunner transactions, ReadVersions versions) implements Reading {
  @Override
  public <T> T read(Function<? super ReadTransaction, ? extends T> body) {
    return transactions.read(
        tx -> {
          versions.include(Awaiting.await(tx.getReadVersion()));
          return body.apply(tx);
        });
  }

  @Override
  public boolean isOneVersion() {
    return false;
  }
}
