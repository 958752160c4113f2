package lectus.document.query;

import lectus.database.Catalogue;
import lectus.store.TransactionRunner;

/** What a server answers of indexes. */
public record Queries(Catalogue catalogue, TransactionRunner transactions) {
  /** Returns the lists of indexes. */
  public IndexListJson indexes() {
    return new IndexListJson(catalogue, transactions);
  }
}
