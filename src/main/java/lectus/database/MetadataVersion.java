package lectus.database;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * FoundationDB's key {@code \xff/metadataVersion}: a store-wide versionstamp that every change of a
 * database's configuration, and every deletion, moves. As long as it stands still, all that a
 * server has cached of databases holds.
 */
final class MetadataVersion {
  private static final byte[] KEY = "\u00ff/metadataVersion".getBytes(StandardCharsets.ISO_8859_1);

  /** The only operand that the key takes: the versionstamp goes to its head. */
  private static final byte[] OPERAND = new byte[14];

  private MetadataVersion() {}

  /**
   * Null while nothing was ever changed. A snapshot read: a conflicting one would make every write
   * of the store lose against any administrative change.
   */
  static CompletableFuture<byte[]> read(ReadTransaction tx) {
    return tx.snapshot().get(KEY);
  }

  static void move(Transaction tx) {
    tx.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, KEY, OPERAND);
  }
}
