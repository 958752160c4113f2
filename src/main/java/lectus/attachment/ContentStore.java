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

  /** Returns the bytes of an attachment as they are stored. */
  ByteSource bytes(DatabaseName database, Attachment attachment) {
    return new StoredBytes(
        body -> transactions.read(tx -> body.apply(tx, catalogue.current(tx, database))),
        attachment.content(),
        0,
        attachment.storedLength());
  }
}
