package lectus.attachment;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * The contents of one database's attachments. A row is written when the last chunk is stored, and
 * not before.
 *
 * <pre>
 * key    (prefix, ATTACHMENTS, CONTENTS, SHA-256)
 * value  (format 1, upload, length, MD5, chunk bytes[, length when decompressed])
 * </pre>
 *
 * The last element is there if the content was verified to be gzip.
 *
 * <p>Read and written with conflict ranges: a document that refers to a content loses against the
 * sweeper that removes it, or the other way round.
 */
public final class ContentsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A content of attachments");

  private final byte[] prefix;

  public ContentsSubspace(byte[] databasePrefix) {
    this.prefix = AttachmentKeys.CONTENTS.key(databasePrefix).toBytes();
  }

  public CompletableFuture<Optional<StoredContent>> get(ReadTransaction tx, ContentId id) {
    return tx.get(key(id)).thenApply(value -> Optional.ofNullable(value).map(this::decode));
  }

  public void put(Transaction tx, ContentId id, StoredContent content) {
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number());
    value.bytes(content.upload().bytes()).integer(content.length());
    value.bytes(content.md5().bytes()).integer(content.chunkBytes());
    content.plainLength().ifPresent(value::integer);
    tx.set(key(id), value.toBytes());
  }

  public void clear(Transaction tx, ContentId id) {
    tx.clear(key(id));
  }

  public ContentId idOf(byte[] key) {
    return ContentId.of(new TupleReader(key, prefix.length).only(TupleReader::bytes));
  }

  public StoredContent decode(byte[] value) {
    return FORMAT
        .reader(value)
        .only(
            it ->
                new StoredContent(
                    UploadId.of(it.bytes()),
                    it.integer(),
                    Md5.of(it.bytes()),
                    it.smallInteger(),
                    it.hasNext() ? Optional.of(it.integer()) : Optional.empty()));
  }

  private byte[] key(ContentId id) {
    return new TupleWriter(prefix).bytes(id.bytes()).toBytes();
  }

  /**
   * A content that is wholly stored.
   *
   * @param upload what its chunks are stored under
   * @param length in bytes
   * @param md5 of its bytes as they are stored
   * @param chunkBytes length of each chunk but the last
   * @param plainLength of the bytes that it decompresses to; empty unless it was verified to be
   *     gzip
   */
  public record StoredContent(
      UploadId upload, long length, Md5 md5, int chunkBytes, Optional<Long> plainLength) {

    /** Returns the same content with another length of what it decompresses to. */
    public StoredContent withPlainLength(Optional<Long> verified) {
      return new StoredContent(upload, length, md5, chunkBytes, verified);
    }

    /** Returns the length of a chunk that is not damaged. */
    public int lengthOf(long chunk) {
      return (int) Math.min(chunkBytes, length - chunk * chunkBytes);
    }
  }
}
