package lectus.database;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * FoundationDB's key {@code \xff/metadataVersion}: a store-wide versionstamp that moves with every
 * change of a database's configuration and every deletion. As long as it does not move, everything
 * that a server has cached of databases is valid.
 */
final class MetadataVersion {
  private static final byte[] KEY = "\u00ff/metadataVersion".getBytes(StandardCharsets.ISO_8859_1);

  /** The only operand that the key accepts: the versionstamp goes to its head. */
  private static final byte[] OPERAND = new byte[14];

  private MetadataVersion() {}

  /**
   * Returns null while nothing was ever changed. A snapshot read: otherwise every write of the
   * store would conflict with every administrative change.
   */
  static CompletableFuture<byte[]> read(ReadTransaction tx) {
    return tx.snapshot().get(KEY);
  }

  static void move(Transaction tx) {
    tx.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, KEY, OPERAND);
  }
}
