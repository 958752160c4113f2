package lectus.database;

import com.apple.foundationdb.Range;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Optional;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;

/**
 * Counters, each in 16 slots by a hash of the document id, so that no key is written by every
 * transaction. Values are 8 bytes, little-endian, as atomic addition has them.
 *
 * <pre>
 * key                                                 value
 * (prefix, STATISTICS, counter number, slot)          64-bit integer, little-endian
 * (prefix, STATISTICS, 4, shard id, slot)             the same: entries of one changes shard
 * </pre>
 */
final class StatisticsSubspace {
  static final int SLOTS = 16;

  private static final int ENTRIES = 4;

  private StatisticsSubspace() {}

  /** Counters of a database; the numbers are stored. */
  enum Counter {
    DOCUMENTS(0),
    DELETED_DOCUMENTS(1),
    EXTERNAL_BYTES(2),
    ACTIVE_BYTES(3);

    private final int number;

    Counter(int number) {
      this.number = number;
    }
  }

  static int slotOf(String docId) {
    int hash = docId.hashCode();
    return (hash ^ (hash >>> 16)) & (SLOTS - 1);
  }

  static Range range(byte[] prefix) {
    return Range.startsWith(DatabaseSubspace.STATISTICS.key(prefix).toBytes());
  }

  static Range entriesRange(byte[] prefix, ShardId shard) {
    return Range.startsWith(
        DatabaseSubspace.STATISTICS.key(prefix).integer(ENTRIES).string(shard.text()).toBytes());
  }

  static byte[] key(byte[] prefix, Counter counter, int slot) {
    return DatabaseSubspace.STATISTICS.key(prefix).integer(counter.number).integer(slot).toBytes();
  }

  static byte[] entriesKey(byte[] prefix, ShardId shard, int slot) {
    return DatabaseSubspace.STATISTICS
        .key(prefix)
        .integer(ENTRIES)
        .string(shard.text())
        .integer(slot)
        .toBytes();
  }

  /** The number of the counter that a key belongs to. */
  static int counterNumber(byte[] prefix, byte[] key) {
    return new TupleReader(key, DatabaseSubspace.STATISTICS.key(prefix).length()).smallInteger();
  }

  /** What a key counts and in which slot, in words; empty for a key of no counter. */
  static Optional<String> nameOf(byte[] prefix, byte[] key) {
    try {
      TupleReader reader = new TupleReader(key, DatabaseSubspace.STATISTICS.key(prefix).length());
      int counter = reader.smallInteger();
      String name =
          counter == ENTRIES
              ? "entries of the shard " + reader.string()
              : Counter.values()[counter].name().toLowerCase(Locale.ROOT).replace('_', ' ');
      return Optional.of(name + " in slot " + reader.smallInteger());
    } catch (MalformedTupleException | IndexOutOfBoundsException unknown) {
      return Optional.empty();
    }
  }

  static byte[] littleEndian(long value) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  static long number(byte[] value) {
    return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }
}
