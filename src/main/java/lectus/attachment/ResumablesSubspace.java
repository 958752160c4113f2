package lectus.attachment;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * Attachments that come in pieces. A row goes when the document shows the attachment.
 *
 * <pre>
 * key    (prefix, ATTACHMENTS, RESUMABLES, SHA-256 of the user's name, ID)
 * value  (format 1, read version at the last piece, upload, SHA-256 of the target, total, received)
 * </pre>
 *
 * Read and written with conflict ranges: of two clients that send the same piece one is refused.
 */
public final class ResumablesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An upload in pieces");
  private static final int TYPICAL_BYTES = 96;

  private final byte[] databasePrefix;
  private final byte[] prefix;

  public ResumablesSubspace(byte[] databasePrefix) {
    this.databasePrefix = databasePrefix;
    this.prefix = AttachmentKeys.RESUMABLES.key(databasePrefix).toBytes();
  }

  public CompletableFuture<Optional<ResumableUpload>> get(ReadTransaction tx, UploadName name) {
    return tx.get(key(name))
        .thenApply(value -> Optional.ofNullable(value).map(ResumablesSubspace::decode));
  }

  public void put(Transaction tx, UploadName name, ResumableUpload upload, long version) {
    TupleWriter value = new TupleWriter(TYPICAL_BYTES).integer(FORMAT.number()).integer(version);
    value.bytes(upload.chunks().bytes()).bytes(upload.target().bytes());
    tx.set(key(name), value.integer(upload.total()).integer(upload.received()).toBytes());
  }

  public void clear(Transaction tx, UploadName name) {
    tx.clear(key(name));
  }

  /** Returns the version at which the upload last went on; empty if there is none. */
  CompletableFuture<OptionalLong> since(ReadTransaction tx, UploadName name) {
    return tx.get(key(name))
        .thenApply(value -> value == null ? OptionalLong.empty() : OptionalLong.of(since(value)));
  }

  public Range range() {
    return AttachmentKeys.RESUMABLES.range(databasePrefix);
  }

  /** Returns the range of one user's uploads. */
  Range rangeOfUser(UploadName name) {
    return Range.startsWith(TupleWriter.startingWith(prefix).string(name.user()).toBytes());
  }

  public UploadName nameOf(byte[] key) {
    return new TupleReader(key, prefix.length).only(it -> new UploadName(it.string(), it.string()));
  }

  public static long since(byte[] value) {
    return FORMAT.reader(value).integer();
  }

  public static ResumableUpload decode(byte[] value) {
    TupleReader reader = FORMAT.reader(value);
    reader.integer();
    return reader.only(
        it ->
            new ResumableUpload(
                UploadId.of(it.bytes()), UploadTarget.of(it.bytes()), it.integer(), it.integer()));
  }

  private byte[] key(UploadName name) {
    return TupleWriter.startingWith(prefix).string(name.user()).string(name.text()).toBytes();
  }
}
