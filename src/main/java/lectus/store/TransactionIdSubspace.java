package lectus.store;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.nio.ByteBuffer;
import java.util.Arrays;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;

/**
 * The stored transactions that a writer may still ask about (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/003-fdb-seq-index.md">RFC
 * 003</a>, Handling of Unknown Commit Results).
 *
 * <pre>
 * key                              value
 * (root, TRANSACTION_IDS, id)      format 1 ‖ attempt ‖ versionstamp
 * </pre>
 *
 * The id has 16 bytes and belongs to one logical write. The attempt, 4 bytes big-endian, is the
 * number of the stored run, from 1. {@link #NONE} means that the write was given up and no run of
 * it can be stored any more. The versionstamp, 12 bytes, is the transaction's.
 */
public final class TransactionIdSubspace {
  /** The attempt of a write that was given up. */
  static final int NONE = 0;

  private static final StoredFormat FORMAT = new StoredFormat(1, "The id of a transaction");
  private static final int STAMP_OFFSET = 1 + Integer.BYTES;
  private static final int VALUE_LENGTH = STAMP_OFFSET + Versionstamp.LENGTH;

  private final byte[] root;

  public TransactionIdSubspace(byte[] root) {
    this.root = root;
  }

  /**
   * The outcome of a write.
   *
   * @param versionstamp the transaction's 10 bytes
   */
  public record Trace(int attempt, byte[] versionstamp) {
    public long version() {
      return ByteBuffer.wrap(versionstamp).getLong();
    }
  }

  public Range range() {
    return RootSubspace.TRANSACTION_IDS.range(root);
  }

  byte[] key(byte[] id) {
    return RootSubspace.TRANSACTION_IDS.key(root).bytes(id).toBytes();
  }

  /**
   * Writes the trace of one attempt and adds a conflict with every other transaction of the same
   * id. At most one attempt is then stored, even if the network delivers an old one late. The
   * transaction must have a read version; without one it would conflict with nothing.
   */
  void put(Transaction tx, byte[] id, int attempt) {
    byte[] key = key(id);
    tx.addReadConflictKey(key);
    byte[] head =
        ByteBuffer.allocate(STAMP_OFFSET).put((byte) FORMAT.number()).putInt(attempt).array();
    tx.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, key, Versionstamp.templateBehind(head));
  }

  /**
   * Checks a row.
   *
   * @throws MalformedTupleException if the row does not belong to this subspace
   */
  public void check(KeyValue row) {
    TupleReader key =
        new TupleReader(row.getKey(), RootSubspace.TRANSACTION_IDS.key(root).length());
    key.only(TupleReader::bytes);
    trace(row.getValue());
  }

  /**
   * @throws MalformedTupleException if this subspace holds no such value
   */
  public static Trace trace(byte[] value) {
    FORMAT.checkFirstByte(value);
    if (value.length != VALUE_LENGTH) {
      throw new MalformedTupleException(
          "The id of a transaction is damaged: it has " + value.length + " bytes");
    }
    int stampEnd = STAMP_OFFSET + Versionstamp.TRANSACTION_LENGTH;
    return new Trace(
        ByteBuffer.wrap(value, 1, Integer.BYTES).getInt(),
        Arrays.copyOfRange(value, STAMP_OFFSET, stampEnd));
  }
}
