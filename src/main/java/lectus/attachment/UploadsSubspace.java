package lectus.attachment;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * Contents that are being stored, in more transactions than one. The row goes when the content has
 * its own.
 *
 * <pre>
 * key    (prefix, ATTACHMENTS, UPLOADS, upload)
 * value  (format 1, read version of the transaction that stored the last chunk)
 * </pre>
 *
 * Read and written with conflict ranges: an upload that was swept goes on no more.
 */
public final class UploadsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An upload");

  private final byte[] databasePrefix;
  private final byte[] prefix;

  public UploadsSubspace(byte[] databasePrefix) {
    this.databasePrefix = databasePrefix;
    this.prefix = AttachmentKeys.UPLOADS.key(databasePrefix).toBytes();
  }

  public void put(Transaction tx, UploadId upload, long version) {
    tx.set(key(upload), new TupleWriter(16).integer(FORMAT.number()).integer(version).toBytes());
  }

  public void clear(Transaction tx, UploadId upload) {
    tx.clear(key(upload));
  }

  /** Returns the version at which the upload last went on; empty if there is none. */
  public CompletableFuture<OptionalLong> since(ReadTransaction tx, UploadId upload) {
    return tx.get(key(upload))
        .thenApply(value -> value == null ? OptionalLong.empty() : OptionalLong.of(since(value)));
  }

  public Range range() {
    return AttachmentKeys.UPLOADS.range(databasePrefix);
  }

  public UploadId uploadOf(byte[] key) {
    return UploadId.of(new TupleReader(key, prefix.length).only(TupleReader::bytes));
  }

  public static long since(byte[] value) {
    return FORMAT.reader(value).only(TupleReader::integer);
  }

  private byte[] key(UploadId upload) {
    return new TupleWriter(prefix).bytes(upload.bytes()).toBytes();
  }

  /**
   * What the chunks of a content are stored under. Their hash is known only when the last one has
   * come.
   *
   * @param hex 32 hex digits
   */
  public record UploadId(String hex) {
    private static final int BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    public static UploadId random() {
      byte[] bytes = new byte[BYTES];
      RANDOM.nextBytes(bytes);
      return of(bytes);
    }

    public static UploadId of(byte[] bytes) {
      return new UploadId(HexFormat.of().formatHex(bytes));
    }

    byte[] bytes() {
      return HexFormat.of().parseHex(hex);
    }
  }
}
