package lectus.attachment;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.store.TransactionRunner;

/** Takes the contents of attachments, and gives them. */
public record ContentStore(Catalogue catalogue, TransactionRunner transactions) {

  /** Begins to store a content. Nothing is written before its first chunks are complete. */
  public ContentUpload begin(DatabaseName database) {
    return new ContentUpload(catalogue, transactions, database);
  }

  /**
   * Returns the bytes of a content as they are stored, or of a part of it.
   *
   * @param from offset of the first byte
   * @param end offset behind the last byte
   */
  public ByteSource read(StoredBytes.Reads reads, ContentId id, long from, long end) {
    return new StoredBytes(reads, id, from, end);
  }
}
