package lectus.document;

import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.TransactionOptions;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.json.ExplodedBody;
import lectus.json.JsonBuffer;
import lectus.json.LeafOrder;
import lectus.json.TupleWriter;

/**
 * A new leaf's body with its attachments, and the rows that it has: its {@link RevisionMetadata},
 * and below it one row for each leaf, unless the metadata have them all, or the members lie in
 * chunks of text. The database's layout and the body decide, revision by revision.
 */
public final class BodyRows {
  /** RFC 004's limit of documents, in bytes of JSON: larger ones have no rows of leaves. */
  private static final int MAX_JSON_BYTES = 1_000_000;

  /**
   * Most bytes that rows of leaves add to a transaction. A document that has many short values, or
   * a long id, meets it before {@link #MAX_JSON_BYTES}.
   */
  private static final long MAX_ROW_BYTES = 3_000_000;

  /** Bytes that the store adds to each key-value of a transaction. */
  private static final int MUTATION_BYTES = 44;

  private enum Form {
    INLINE,
    ROWS,
    TEXT
  }

  private final ExplodedBody body;
  private final int keyBytes;
  private final AttachmentList attachments;
  private final Form form;
  private final byte[] metadata;

  /**
   * @param layout of the database
   * @param keyBytes length of the first key
   */
  public BodyRows(BodyLayout layout, int keyBytes, ExplodedBody body, AttachmentList attachments) {
    this.body = body;
    this.keyBytes = keyBytes;
    this.attachments = attachments;
    if (layout == BodyLayout.INLINE && RevisionMetadata.takes(body, attachments)) {
      this.form = Form.INLINE;
      this.metadata = RevisionMetadata.inline(body, attachments);
      return;
    }
    byte[] order = haveRows(body, keyBytes) ? LeafOrder.of(body) : null;
    if (order != null && RevisionMetadata.takesOrder(order, attachments)) {
      this.form = Form.ROWS;
      this.metadata = RevisionMetadata.ofRows(order, attachments);
    } else {
      this.form = Form.TEXT;
      this.metadata = RevisionMetadata.ofText(textBytes(), attachments);
    }
  }

  private static boolean haveRows(ExplodedBody body, int keyBytes) {
    return body.jsonBytes() <= MAX_JSON_BYTES && rowBytes(body, keyBytes) <= MAX_ROW_BYTES;
  }

  private static long rowBytes(ExplodedBody body, int keyBytes) {
    return body.storedBytes() + (long) body.rows() * (keyBytes + MUTATION_BYTES);
  }

  /**
   * Returns roughly what a body without attachments adds to a transaction, in bytes.
   *
   * @param mostly false for the layout in which it weighs most, true for the usual one
   */
  public static long weight(ExplodedBody body, int keyBytes, boolean mostly) {
    if (mostly && RevisionMetadata.takes(body, AttachmentList.NONE)) {
      return body.packedBytes();
    }
    return haveRows(body, keyBytes) ? rowBytes(body, keyBytes) : body.jsonBytes();
  }

  public ExplodedBody body() {
    return body;
  }

  public AttachmentList attachments() {
    return attachments;
  }

  /** Without the braces. */
  private int textBytes() {
    return body.jsonBytes() - 2;
  }

  /** Returns the number of key-values. */
  public int count() {
    return switch (form) {
      case INLINE -> 1;
      case ROWS -> 1 + body.rows();
      case TEXT -> 1 + TextChunks.count(textBytes());
    };
  }

  /** Returns the size of the keys and values, in bytes. */
  public long bytes() {
    long others =
        switch (form) {
          case INLINE -> 0;
          case ROWS -> body.storedBytes();
          case TEXT -> TextChunks.bytes(textBytes());
        };
    return (long) keyBytes * count() + metadata.length + others;
  }

  /**
   * Writes the rows, without conflict ranges.
   *
   * @param key of the first row
   */
  public void put(Transaction tx, TupleWriter key) {
    TransactionOptions options = tx.options();
    options.setNextWriteNoWriteConflictRange();
    tx.set(key.toBytes(), metadata);
    if (form == Form.ROWS) {
      body.forEachRow(
          (path, value) -> {
            options.setNextWriteNoWriteConflictRange();
            tx.set(key.truncate(keyBytes).raw(path).toBytes(), value);
          });
    } else if (form == Form.TEXT) {
      JsonBuffer text = new JsonBuffer(textBytes());
      body.appendTo(text);
      TextChunks.put(tx, key, text);
    }
  }
}
