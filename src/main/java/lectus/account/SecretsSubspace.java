package lectus.account;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.Arrays;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.RootSubspace;

/**
 * What all servers of a store know and nobody else.
 *
 * <pre>
 * key                         value
 * (root, SECRETS, "cookie")   format 1 ‖ 32 random bytes, with which cookies are signed
 * </pre>
 */
public final class SecretsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A secret");
  private static final String COOKIE = "cookie";

  /** As long as the result of the hash function that signs. */
  static final int LENGTH = 32;

  private final byte[] root;

  public SecretsSubspace(byte[] rootPrefix) {
    this.root = rootPrefix;
  }

  public Range range() {
    return RootSubspace.SECRETS.range(root);
  }

  byte[] cookieKey() {
    return RootSubspace.SECRETS.key(root).string(COOKIE).toBytes();
  }

  static byte[] value(byte[] secret) {
    return new TupleWriter(new byte[] {(byte) FORMAT.number()}).raw(secret).toBytes();
  }

  static byte[] secret(byte[] value) {
    FORMAT.checkFirstByte(value);
    if (value.length != 1 + LENGTH) {
      throw new MalformedTupleException("A secret of " + (value.length - 1) + " bytes");
    }
    return Arrays.copyOfRange(value, 1, value.length);
  }

  /**
   * Checks a row and returns the name of its secret.
   *
   * @throws MalformedTupleException if the row does not belong to this subspace
   */
  public String name(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), RootSubspace.SECRETS.key(root).length());
    secret(row.getValue());
    return key.only(TupleReader::string);
  }
}
