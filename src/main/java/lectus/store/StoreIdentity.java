package lectus.store;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.subspace.Subspace;
import java.security.SecureRandom;
import java.util.HexFormat;
import lectus.error.StoreOpenException;

/**
 * The id that a store generates when it is first opened, and the format of all its keys and values.
 * Servers use the id to tell events of one store from those of another.
 *
 * <table>
 *   <caption>Layout, below the store's root</caption>
 *   <tr><th>key</th><th>value</th></tr>
 *   <tr><td>(15, "store")</td><td>format 1, then the 16 bytes of the id</td></tr>
 * </table>
 */
public final class StoreIdentity {
  /** Frozen: stores of all versions from 0.2.0 on open. */
  private static final byte FORMAT = 1;

  private static final int ID_LENGTH = 16;

  private final Range all;
  private final byte[] key;

  StoreIdentity(Subspace root) {
    all = root.range();
    key = key(root.getKey());
  }

  public static byte[] key(byte[] root) {
    return RootSubspace.STORE_ID.key(root).string("store").toBytes();
  }

  /** Returns the store's id, 32 lower-case hex digits. Generates and stores it if it is missing. */
  String readOrCreate(Transaction transaction) {
    byte[] value = Awaiting.await(transaction.get(key));
    if (value == null) {
      if (!Awaiting.await(transaction.getRange(all, 1).asList()).isEmpty()) {
        throw former();
      }
      value = randomValue();
      transaction.set(key, value);
    }
    return decode(value);
  }

  String read(ReadTransaction transaction) {
    byte[] value = Awaiting.await(transaction.get(key));
    return decode(value == null ? new byte[0] : value);
  }

  private static String decode(byte[] value) {
    if (value.length > 0 && value[0] > FORMAT) {
      throw StoreOpenException.foreign(
          "The store was written by a newer version of Lectus: it has format "
              + value[0]
              + ", this version reads up to "
              + FORMAT
              + ".");
    }
    if (value.length > 0 && value[0] < FORMAT) {
      throw former();
    }
    if (value.length != 1 + ID_LENGTH) {
      throw StoreOpenException.damage("The store's id is damaged.");
    }
    return HexFormat.of().formatHex(value, 1, value.length);
  }

  private static StoreOpenException former() {
    return StoreOpenException.foreign(
        "The store was written by an earlier build of Lectus and this one does not read it: copy"
            + " its databases into a new store, by couchbackup or a replication from that build.");
  }

  private static byte[] randomValue() {
    byte[] id = new byte[ID_LENGTH];
    new SecureRandom().nextBytes(id);
    byte[] value = new byte[1 + ID_LENGTH];
    value[0] = FORMAT;
    System.arraycopy(id, 0, value, 1, ID_LENGTH);
    return value;
  }
}
