package lectus.database;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import lectus.json.StoredFormat;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;

/**
 * When a database was last created or deleted, so that a changed list of databases is noticed
 * without reading it. Written blindly, so creations do not conflict with each other.
 *
 * <pre>
 * key          value
 * (root, 4)    format 1 ‖ versionstamp (12 bytes)
 * </pre>
 */
public final class CatalogueVersion {
  private static final StoredFormat FORMAT = new StoredFormat(1, "The catalogue's version");
  private static final String NEVER = "0";

  private final byte[] key;

  CatalogueVersion(byte[] root) {
    this.key = key(root);
  }

  public static byte[] key(byte[] root) {
    return RootSubspace.CATALOGUE_VERSION.key(root).toBytes();
  }

  /** Returns lower-case hex digits that change whenever the list of databases does. */
  CompletableFuture<String> read(ReadTransaction tx) {
    return tx.snapshot().get(key).thenApply(value -> value == null ? NEVER : text(value));
  }

  void move(Transaction tx) {
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_VALUE,
        key,
        Versionstamp.templateBehind((byte) FORMAT.number()));
  }

  static String text(byte[] value) {
    FORMAT.checkFirstByte(value);
    return HexFormat.of().formatHex(value, 1, 1 + Versionstamp.TRANSACTION_LENGTH);
  }
}
