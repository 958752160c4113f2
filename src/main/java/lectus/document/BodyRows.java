package lectus.document;

import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.TransactionOptions;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.tuple.TupleWriter;

/**
 * The rows of one body: its {@link RevisionMetadata}, and below it one row for each leaf, unless
 * the metadata have them all, or the members lie in chunks of text. The database's layout and the
 * body decide, revision by revision.
 */
public final class BodyRows {
  /** RFC 004's limit of documents, in bytes of JSON: larger ones have no rows of leaves. */
  public static final int MAX_JSON_BYTES = 1_000_000;

  /**
   * Most bytes that rows of leaves add to a transaction. A document that has many short values, or
   * a long id, meets it before {@link #MAX_JSON_BYTES}.
   */
  static final long MAX_ROW_BYTES = 3_000_000;

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

  /**
   * @param layout of the database
   * @param keyBytes length of the first key
   */
  public BodyRows(BodyLayout layout, int keyBytes, ExplodedBody body, AttachmentList attachments) {
    this.body = body;
    this.keyBytes = keyBytes;
    this.attachments = attachments;
    this.form = form(layout);
  }

  private byte[] metadata() {
    return switch (form) {
      case INLINE -> RevisionMetadata.inline(body, attachments);
      case ROWS -> RevisionMetadata.ofRows(body, attachments);
      case TEXT -> RevisionMetadata.ofText(textBytes(), attachments);
    };
  }

  private Form form(BodyLayout layout) {
    if (layout == BodyLayout.INLINE && RevisionMetadata.takes(body, attachments)) {
      return Form.INLINE;
    }
    long rows = body.storedBytes() + (long) body.rows() * (keyBytes + MUTATION_BYTES);
    boolean takesRows =
        body.jsonBytes() <= MAX_JSON_BYTES
            && rows <= MAX_ROW_BYTES
            && RevisionMetadata.takesOrder(body, attachments);
    return takesRows ? Form.ROWS : Form.TEXT;
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
    // The leaves are not encoded just to be counted.
    long first =
        form == Form.INLINE ? RevisionMetadata.inlineBytes(body, attachments) : metadata().length;
    return (long) keyBytes * count() + first + others;
  }

  /**
   * Writes the rows, without conflict ranges.
   *
   * @param key of the first row
   */
  public void put(Transaction tx, TupleWriter key) {
    TransactionOptions options = tx.options();
    options.setNextWriteNoWriteConflictRange();
    tx.set(key.toBytes(), metadata());
    if (form == Form.ROWS) {
      body.forEachRow(
          (path, value) -> {
            options.setNextWriteNoWriteConflictRange();
            tx.set(key.truncate(keyBytes).raw(path).toBytes(), value);
          });
    } else if (form == Form.TEXT) {
      JsonBuffer text = new JsonBuffer(textBytes());
      new JsonAssembler(text, false).all(body);
      TextChunks.put(tx, key, text);
    }
  }
}
