package lectus.account;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.RootSubspace;

/**
 * The store's admins.
 *
 * <pre>
 * key                    value
 * (root, ADMINS, name)   (format 1, hash of the password as CouchDB's section [admins] has it)
 * </pre>
 */
public final class AdminsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An admin");

  private final byte[] root;

  public AdminsSubspace(byte[] rootPrefix) {
    this.root = rootPrefix;
  }

  /** A name, and the hash of its password. */
  public record Admin(String name, String hash) {}

  public Range range() {
    return RootSubspace.ADMINS.range(root);
  }

  byte[] key(String name) {
    return RootSubspace.ADMINS.key(root).string(name).toBytes();
  }

  static byte[] value(String hash) {
    return new TupleWriter(256).integer(FORMAT.number()).string(hash).toBytes();
  }

  static String hash(byte[] value) {
    return FORMAT.reader(value).only(TupleReader::string);
  }

  /**
   * @throws MalformedTupleException if the row does not belong to this subspace
   */
  public Admin admin(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), RootSubspace.ADMINS.key(root).length());
    return new Admin(key.only(TupleReader::string), hash(row.getValue()));
  }
}
