package lectus.store;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.nio.ByteBuffer;
import java.util.Arrays;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.StoredFormat;

/**
 * The transactions that were stored and that somebody may still ask for (RFC 003, Handling of
 * Unknown Commit Results).
 *
 * <pre>
 * key                              value
 * (root, TRANSACTION_IDS, id)      format 1 ‖ attempt ‖ versionstamp
 * </pre>
 *
 * The id has 16 bytes and belongs to one logical write. The attempt, 4 bytes, big-endian, tells
 * which run of it was stored, from 1 on; {@link #NONE}: the write was given up, and no run of it
 * can be stored any more. The versionstamp, 12 bytes, is that of the transaction.
 */
public final class TransactionIdSubspace {
  /** In place of an attempt: the write was given up. */
  static final int NONE = 0;

  private static final StoredFormat FORMAT = new StoredFormat(1, "The id of a transaction");
  private static final int STAMP_OFFSET = 1 + Integer.BYTES;
  private static final int VALUE_LENGTH = STAMP_OFFSET + Versionstamps.LENGTH;

  private final byte[] root;

  public TransactionIdSubspace(byte[] root) {
    this.root = root;
  }

  /**
   * What became of a write.
   *
   * @param versionstamp the 10 bytes that the store gave the transaction
   */
  public record Trace(int attempt, byte[] versionstamp) {
    /** The version at which the transaction was committed. */
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
   * Leaves the trace of one attempt, and makes the transaction lose against any other of the same
   * id: of all attempts at most one is stored, even if the network delivers an old one late. The
   * transaction must have a read version, or it would conflict with nothing.
   */
  void put(Transaction tx, byte[] id, int attempt) {
    byte[] key = key(id);
    tx.addReadConflictKey(key);
    byte[] head =
        ByteBuffer.allocate(STAMP_OFFSET).put((byte) FORMAT.number()).putInt(attempt).array();
    tx.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, key, Versionstamps.templateBehind(head));
  }

  /**
   * @throws MalformedTupleException if it is not a value of this subspace
   */
  public static Trace trace(byte[] value) {
    FORMAT.checkFirstByte(value);
    if (value.length != VALUE_LENGTH) {
      throw new MalformedTupleException(
          "The id of a transaction is damaged: it has " + value.length + " bytes");
    }
    int stampEnd = STAMP_OFFSET + Versionstamps.TRANSACTION_LENGTH;
    return new Trace(
        ByteBuffer.wrap(value, 1, Integer.BYTES).getInt(),
        Arrays.copyOfRange(value, STAMP_OFFSET, stampEnd));
  }
}
