package lectus.database;

import com.apple.foundationdb.Range;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Optional;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * Counters, each in 16 slots by a hash of the document id, so that no key is written by every
 * transaction. Values are 8 bytes, little-endian, as atomic addition requires.
 *
 * <pre>
 * key                                                 value
 * (prefix, STATISTICS, counter number, slot)          64-bit integer, little-endian
 * (prefix, STATISTICS, 4, shard id, slot)             the same: entries of one changes shard
 * (prefix, STATISTICS, 5, partition, counter number,  the same: a counter for one partition of a
 *   slot)                                             partitioned database, in 4 slots
 * </pre>
 *
 * The shards of a generation share the 16 slots, since the same writers need no more keys.
 */
final class StatisticsSubspace {
  static final int SLOTS = 16;

  /** Fewer slots, because there may be many partitions with few documents each. */
  private static final int PARTITION_SLOTS = 4;

  private static final int ENTRIES = 4;
  private static final int PARTITIONS = 5;

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

  static int partitionSlotOf(String docId) {
    return slotOf(docId) % PARTITION_SLOTS;
  }

  /**
   * Returns the slot of a shard's entries.
   *
   * @param shards number of shards in the shard's generation
   */
  static int entriesSlotOf(String docId, int shards) {
    return slotOf(docId) % Math.max(1, SLOTS / shards);
  }

  /** Returns the range of the database's own counters. */
  static Range countersRange(byte[] prefix) {
    return new Range(
        DatabaseSubspace.STATISTICS.key(prefix).toBytes(),
        DatabaseSubspace.STATISTICS.key(prefix).integer(ENTRIES).toBytes());
  }

  static Range partitionRange(byte[] prefix, Partition partition) {
    return Range.startsWith(partitionKey(prefix, partition).toBytes());
  }

  /** Returns the range of the two counters of documents. */
  static Range documentsRange(byte[] prefix) {
    return new Range(
        DatabaseSubspace.STATISTICS.key(prefix).toBytes(),
        DatabaseSubspace.STATISTICS.key(prefix).integer(Counter.EXTERNAL_BYTES.number).toBytes());
  }

  static Range entriesRange(byte[] prefix) {
    return Range.startsWith(DatabaseSubspace.STATISTICS.key(prefix).integer(ENTRIES).toBytes());
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

  static byte[] partitionKey(byte[] prefix, Partition partition, Counter counter, int slot) {
    return partitionKey(prefix, partition).integer(counter.number).integer(slot).toBytes();
  }

  private static TupleWriter partitionKey(byte[] prefix, Partition partition) {
    return DatabaseSubspace.STATISTICS.key(prefix).integer(PARTITIONS).string(partition.name());
  }

  /**
   * Returns the number of the counter to which a key belongs.
   *
   * @param range the range in which the key was read
   */
  static int counterNumber(Range range, byte[] key) {
    TupleReader reader = new TupleReader(key, range.begin.length);
    int counter = reader.smallInteger();
    reader.only(TupleReader::smallInteger);
    return counter;
  }

  /**
   * Returns the shard whose entries are counted under a key.
   *
   * @param range the range of all shards' counters, which contains the key
   */
  static ShardId shardOf(Range range, byte[] key) {
    TupleReader reader = new TupleReader(key, range.begin.length);
    ShardId shard = new ShardId(reader.string());
    reader.only(TupleReader::smallInteger);
    return shard;
  }

  /** Checks a key that has nothing but a slot behind the beginning of its range. */
  static void checkSlot(Range range, byte[] key) {
    new TupleReader(key, range.begin.length).only(TupleReader::smallInteger);
  }

  /** Describes what a key counts, and its slot; empty if the key is not a counter's. */
  static Optional<String> nameOf(byte[] prefix, byte[] key) {
    try {
      TupleReader reader = new TupleReader(key, DatabaseSubspace.STATISTICS.key(prefix).length());
      int counter = reader.smallInteger();
      String name =
          switch (counter) {
            case ENTRIES -> "entries of the shard " + reader.string();
            case PARTITIONS -> {
              String partition = reader.string();
              yield nameOf(reader.smallInteger()) + " of the partition " + partition;
            }
            default -> nameOf(counter);
          };
      return Optional.of(name + " in slot " + reader.only(TupleReader::smallInteger));
    } catch (MalformedTupleException | IndexOutOfBoundsException unknown) {
      return Optional.empty();
    }
  }

  private static String nameOf(int counter) {
    return Counter.values()[counter].name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  static byte[] littleEndian(long value) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  static long number(byte[] value) {
    return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }
}
