package lectus.attachment;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * The contents that the sweeper is to look at: stored, but not referred to at the time, or bereft
 * of a reference. Every content without a reference is here.
 *
 * <pre>
 * key    (prefix, ATTACHMENTS, UNUSED, SHA-256)
 * value  (format 1, read version of the transaction that wrote it)
 * </pre>
 */
public final class UnusedSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An unused content");

  private final byte[] databasePrefix;
  private final byte[] prefix;

  public UnusedSubspace(byte[] databasePrefix) {
    this.databasePrefix = databasePrefix;
    this.prefix = AttachmentKeys.UNUSED.key(databasePrefix).toBytes();
  }

  public void put(Transaction tx, ContentId content, long version) {
    tx.set(key(content), new TupleWriter(16).integer(FORMAT.number()).integer(version).toBytes());
  }

  public void clear(Transaction tx, ContentId content) {
    tx.clear(key(content));
  }

  /** Returns since which version a content may be unused; empty if it is used. */
  public CompletableFuture<OptionalLong> since(ReadTransaction tx, ContentId content) {
    return tx.get(key(content))
        .thenApply(value -> value == null ? OptionalLong.empty() : OptionalLong.of(since(value)));
  }

  public Range range() {
    return AttachmentKeys.UNUSED.range(databasePrefix);
  }

  public ContentId contentOf(byte[] key) {
    return ContentId.of(new TupleReader(key, prefix.length).only(TupleReader::bytes));
  }

  public static long since(byte[] value) {
    return FORMAT.reader(value).only(TupleReader::integer);
  }

  private byte[] key(ContentId content) {
    return new TupleWriter(prefix).bytes(content.bytes()).toBytes();
  }
}
