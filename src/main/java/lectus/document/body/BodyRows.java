package lectus.document.body;

import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.TransactionOptions;
import lectus.attachment.AttachmentList;
import lectus.database.BodyLayout;
import lectus.json.ExplodedBody;
import lectus.tuple.TupleWriter;

/**
 * The rows of one body: its {@link RevisionMetadata}, and below it one row for each leaf, unless
 * the metadata have them all. The size alone decides, revision by revision.
 */
public final class BodyRows {
  private final ExplodedBody body;
  private final boolean isInline;
  private final byte[] metadata;

  /**
   * @param layout of the database
   */
  public BodyRows(BodyLayout layout, ExplodedBody body, AttachmentList attachments) {
    this.body = body;
    this.isInline = layout == BodyLayout.INLINE && RevisionMetadata.takes(body, attachments);
    this.metadata =
        isInline
            ? RevisionMetadata.inline(body, attachments)
            : RevisionMetadata.ofRows(attachments);
  }

  /** Returns the number of key-values. */
  public int count() {
    return isInline ? 1 : 1 + body.rows();
  }

  /**
   * Returns the size of the keys and values, in bytes.
   *
   * @param keyBytes length of the first key
   */
  public long bytes(int keyBytes) {
    return (long) keyBytes * count() + metadata.length + (isInline ? 0 : body.storedBytes());
  }

  /**
   * Writes the rows, without conflict ranges.
   *
   * @param key of the first row
   */
  public void put(Transaction tx, TupleWriter key) {
    TransactionOptions options = tx.options();
    int keyBytes = key.length();
    options.setNextWriteNoWriteConflictRange();
    tx.set(key.toBytes(), metadata);
    if (!isInline) {
      body.forEachRow(
          (path, value) -> {
            options.setNextWriteNoWriteConflictRange();
            tx.set(key.truncate(keyBytes).raw(path).toBytes(), value);
          });
    }
  }
}
