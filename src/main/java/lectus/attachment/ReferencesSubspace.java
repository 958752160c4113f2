package lectus.attachment;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * Which leaves of one database's documents show which content, as one of their attachments or
 * several.
 *
 * <pre>
 * key    (prefix, ATTACHMENTS, REFERENCES, SHA-256, doc id, not deleted, position, hash)
 * value  (format 1)
 * </pre>
 *
 * Written with conflict ranges: the sweeper that found none loses against a document that refers.
 */
public final class ReferencesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A reference to a content");
  private static final byte[] VALUE = new TupleWriter(4).integer(FORMAT.number()).toBytes();

  /** Length of a content's id in a key with the zeros that are escaped, at most. */
  private static final int MAX_ID_BYTES = 66;

  private final byte[] prefix;

  /**
   * A decoded key.
   *
   * @param leaf the elements of the key that name the leaf, encoded
   */
  public record Reference(ContentId content, String docId, byte[] leaf) {}

  public ReferencesSubspace(byte[] databasePrefix) {
    this.prefix = AttachmentKeys.REFERENCES.key(databasePrefix).toBytes();
  }

  /**
   * @param leaf the elements of the key that name the leaf, encoded
   */
  public void put(Transaction tx, ContentId content, String docId, byte[] leaf) {
    tx.set(key(content, docId, leaf), VALUE);
  }

  public void clear(Transaction tx, ContentId content, String docId, byte[] leaf) {
    tx.clear(key(content, docId, leaf));
  }

  public CompletableFuture<Boolean> contains(
      ReadTransaction tx, ContentId content, String docId, byte[] leaf) {
    return tx.get(key(content, docId, leaf)).thenApply(value -> value != null);
  }

  /** Whether any leaf shows the content. */
  public CompletableFuture<Boolean> any(ReadTransaction tx, ContentId content) {
    byte[] begin = writer(content).toBytes();
    return tx.getRange(new Range(begin, ByteArrayUtil.strinc(begin)), 1)
        .asList()
        .thenApply(rows -> !rows.isEmpty());
  }

  public Reference decode(byte[] key, byte[] value) {
    FORMAT.only(value);
    TupleReader reader = new TupleReader(key, prefix.length);
    ContentId content = ContentId.of(reader.bytes());
    String docId = reader.string();
    byte[] leaf = Arrays.copyOfRange(key, reader.position(), key.length);
    reader.bool();
    reader.integer();
    reader.only(TupleReader::bytes);
    return new Reference(content, docId, leaf);
  }

  /** Returns an upper bound of the length of what precedes a document's id in a key, in bytes. */
  public int overhead() {
    return prefix.length + MAX_ID_BYTES;
  }

  private byte[] key(ContentId content, String docId, byte[] leaf) {
    return writer(content).string(docId).raw(leaf).toBytes();
  }

  private TupleWriter writer(ContentId content) {
    return new TupleWriter(prefix).bytes(content.bytes());
  }
}
