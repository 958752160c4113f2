package lectus.attachment;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * The bytes of the contents of one database's attachments.
 *
 * <pre>
 * key    (prefix, ATTACHMENTS, CHUNKS, upload, number from 0)
 * value  bytes, whose format is that of the content's row
 * </pre>
 *
 * Written without conflict ranges: nobody reads a chunk before its content has a row, and none
 * changes.
 */
public final class ChunksSubspace {
  private final byte[] prefix;

  public ChunksSubspace(byte[] databasePrefix) {
    this.prefix = AttachmentKeys.CHUNKS.key(databasePrefix).toBytes();
  }

  /** Returns null if there is no such chunk. */
  public CompletableFuture<byte[]> get(ReadTransaction tx, UploadId upload, long number) {
    return tx.get(key(upload, number));
  }

  public void put(Transaction tx, UploadId upload, long number, byte[] bytes) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.set(key(upload, number), bytes);
  }

  /** Clears all chunks of an upload, however many they are. */
  public void clear(Transaction tx, UploadId upload) {
    Range all = range(upload);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(all);
  }

  /** Returns the range of the chunks of an upload, in their order. */
  public Range range(UploadId upload) {
    byte[] begin = writer(upload).toBytes();
    return new Range(begin, ByteArrayUtil.strinc(begin));
  }

  public UploadId uploadOf(byte[] key) {
    TupleReader reader = new TupleReader(key, prefix.length);
    UploadId upload = UploadId.of(reader.bytes());
    reader.only(TupleReader::integer);
    return upload;
  }

  private byte[] key(UploadId upload, long number) {
    return writer(upload).integer(number).toBytes();
  }

  private TupleWriter writer(UploadId upload) {
    return new TupleWriter(prefix).bytes(upload.bytes());
  }
}
