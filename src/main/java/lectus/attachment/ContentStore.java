package lectus.attachment;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.store.TransactionRunner;

/** Takes the contents of attachments. */
public record ContentStore(Catalogue catalogue, TransactionRunner transactions) {

  /** Begins to store a content. Nothing is written before its first chunks are complete. */
  public ContentUpload begin(DatabaseName database) {
    return new ContentUpload(catalogue, transactions, database);
  }
}
