package lectus.document.write;

import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.store.Store;
import lectus.store.TransactionLimits;

/** Databases written in smaller transactions than usual. */
final class SmallTransactions {
  private SmallTransactions() {}

  static TestDatabase create(Store store, String name, TransactionBudget budget) {
    TestDatabase usual = TestDatabase.create(store, name);
    return usual.writtenBy(
        new DocumentWriter(store, usual.catalogue, budget, TransactionLimits.DEFAULT));
  }
}
