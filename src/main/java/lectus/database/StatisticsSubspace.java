package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.ObjLongConsumer;
import lectus.database.ShardTopology.Generation;
import lectus.json.MalformedTupleException;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

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
public final class StatisticsSubspace {
  static final int SLOTS = 16;

  /** Fewer slots, because there may be many partitions with few documents each. */
  private static final int PARTITION_SLOTS = 4;

  private static final Counter[] COUNTERS = Counter.values();
  private static final int PARTITION_COUNTERS = COUNTERS.length * PARTITION_SLOTS;
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

  public static Range entriesRange(byte[] prefix, ShardId shard) {
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
  public static Optional<String> nameOf(byte[] prefix, byte[] key) {
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
    return COUNTERS[counter].name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  static byte[] littleEndian(long value) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  public static long number(byte[] value) {
    return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  /**
   * The sums of a database's counters, as of one read version.
   *
   * @param deletedDocuments documents whose winner is a tombstone
   * @param externalBytes bytes of all leaves' bodies as JSON, and of their attachments
   * @param activeBytes bytes of the keys and values that hold these bodies, and of their
   *     attachments as they are stored, of each leaf anew
   */
  public record DatabaseCounters(
      long documents, long deletedDocuments, long externalBytes, long activeBytes) {

    /** A snapshot read, so counters never cause conflicts. */
    public static CompletableFuture<DatabaseCounters> read(ReadTransaction tx, DatabaseHandle db) {
      return read(tx, countersRange(db.prefix()));
    }

    /** Returns the same for one partition; zeros if the database is not partitioned. */
    public static CompletableFuture<DatabaseCounters> ofPartition(
        ReadTransaction tx, DatabaseHandle db, Partition partition) {
      return read(tx, partitionRange(db.prefix(), partition));
    }

    private static CompletableFuture<DatabaseCounters> read(ReadTransaction tx, Range range) {
      return rows(tx, range).thenApply(rows -> sum(range, rows));
    }

    /**
     * Returns the number of entries in the changes index: one per document, deleted ones included.
     */
    public static CompletableFuture<Long> entries(ReadTransaction tx, DatabaseHandle db) {
      Range range = documentsRange(db.prefix());
      return read(tx, range).thenApply(it -> it.documents() + it.deletedDocuments());
    }

    /** Returns the number of entries in one shard of the changes index. */
    public static CompletableFuture<Long> entries(
        ReadTransaction tx, DatabaseHandle db, ShardId shard) {
      Range range = entriesRange(db.prefix(), shard);
      return sum(tx, range, key -> checkSlot(range, key));
    }

    /** Returns the number of entries in all shards, without those in the deprecated subspace. */
    public static CompletableFuture<Long> entriesInShards(ReadTransaction tx, DatabaseHandle db) {
      Range range = entriesRange(db.prefix());
      return sum(tx, range, key -> shardOf(range, key));
    }

    /**
     * Returns the changes shards that have entries. Their counters change in the same transactions
     * as the entries. A replaced shard that is empty stays empty. Needs two range reads, whatever
     * the number of generations. Snapshot reads.
     */
    public static CompletableFuture<Set<ShardId>> filledShards(
        ReadTransaction tx, DatabaseHandle db) {
      Range range = entriesRange(db.prefix());
      return rows(tx, range)
          .thenCombine(entries(tx, db), (rows, all) -> filledShards(range, rows, all));
    }

    /**
     * @param all number of entries in the whole index
     */
    private static Set<ShardId> filledShards(Range range, List<KeyValue> rows, long all) {
      Map<ShardId, Long> entries = new HashMap<>();
      long inShards = 0;
      for (KeyValue row : rows) {
        long count = number(row.getValue());
        entries.merge(shardOf(range, row.getKey()), count, Long::sum);
        inShards += count;
      }
      entries.values().removeIf(count -> count == 0);
      Set<ShardId> filled = new HashSet<>(entries.keySet());
      if (inShards != all) {
        filled.add(ShardId.DEPRECATED);
      }
      return filled;
    }

    private static CompletableFuture<List<KeyValue>> rows(ReadTransaction tx, Range range) {
      return tx.snapshot().getRange(range).asList();
    }

    /** Adds to the counter under a key. Concurrent additions do not conflict. */
    public static void add(Transaction tx, byte[] key, long difference) {
      tx.mutate(MutationType.ADD, key, littleEndian(difference));
    }

    private static DatabaseCounters sum(Range range, List<KeyValue> rows) {
      long[] sums = new long[COUNTERS.length];
      for (KeyValue row : rows) {
        int counter = counterNumber(range, row.getKey());
        sums[counter] += number(row.getValue());
      }
      return new DatabaseCounters(sums[0], sums[1], sums[2], sums[3]);
    }

    private static CompletableFuture<Long> sum(
        ReadTransaction tx, Range range, Consumer<byte[]> check) {
      return rows(tx, range)
          .thenApply(
              rows -> {
                rows.forEach(row -> check.accept(row.getKey()));
                return rows.stream().mapToLong(row -> number(row.getValue())).sum();
              });
    }
  }

  /**
   * The changes that one transaction makes to a database's counters, summed up in memory and
   * applied once.
   */
  public static final class StatisticsDelta {
    private final boolean partitioned;

    /** Slot by slot, counter by counter. */
    private final long[] changes = new long[COUNTERS.length * SLOTS];

    /** The same of each partition, in its slots. */
    private final Map<Partition, long[]> partitions = new HashMap<>();

    /** Slot by slot. */
    private final Map<ShardId, long[]> entries = new HashMap<>();

    /**
     * @param partitioned whether the database is partitioned, so that each partition is counted,
     *     too
     */
    public StatisticsDelta(boolean partitioned) {
      this.partitioned = partitioned;
    }

    /**
     * @param documents change in the number of live documents
     * @param deletedDocuments change in the number of winning tombstones
     * @param externalBytes change in bytes of JSON and attachments
     * @param activeBytes change in bytes of keys and values, and of attachments as they are stored
     */
    public void add(
        String docId, int documents, int deletedDocuments, long externalBytes, long activeBytes) {
      long[] more = {documents, deletedDocuments, externalBytes, activeBytes};
      int slot = slotOf(docId);
      add(more, changes, slot, SLOTS);
      if (partitioned) {
        Partition.ofDocument(docId)
            .map(it -> partitions.computeIfAbsent(it, none -> new long[PARTITION_COUNTERS]))
            .ifPresent(its -> add(more, its, slot % PARTITION_SLOTS, PARTITION_SLOTS));
      }
    }

    private static void add(long[] more, long[] counters, int slot, int slots) {
      for (int i = 0; i < more.length; i++) {
        counters[i * slots + slot] += more[i];
      }
    }

    /**
     * Changes the number of entries of a changes shard. Entries from before shards were never
     * counted.
     */
    public void addEntries(Generation generation, ShardId shard, String docId, int count) {
      if (!shard.isDeprecated()) {
        int slot = entriesSlotOf(docId, generation.shards().size());
        entries.computeIfAbsent(shard, none -> new long[SLOTS])[slot] += count;
      }
    }

    /** Makes one atomic addition for each counter that changed. */
    public void applyTo(Transaction tx, DatabaseHandle db) {
      forEach(db, (key, change) -> tx.mutate(MutationType.ADD, key, littleEndian(change)));
    }

    /** Returns the counters that an empty database would have after this change, by key. */
    public Map<ByteBuffer, Long> values(DatabaseHandle db) {
      Map<ByteBuffer, Long> values = new HashMap<>();
      forEach(db, (key, change) -> values.put(ByteBuffer.wrap(key), change));
      return values;
    }

    /** Passes on those that changed, each under its key. */
    private void forEach(DatabaseHandle db, ObjLongConsumer<byte[]> sink) {
      byte[] prefix = db.prefix();
      forEach(changes, i -> key(prefix, COUNTERS[i / SLOTS], i % SLOTS), sink);
      partitions.forEach(
          (its, counters) ->
              forEach(
                  counters,
                  i ->
                      partitionKey(prefix, its, COUNTERS[i / PARTITION_SLOTS], i % PARTITION_SLOTS),
                  sink));
      entries.forEach(
          (shard, counters) -> forEach(counters, i -> entriesKey(prefix, shard, i), sink));
    }

    private static void forEach(
        long[] counters, IntFunction<byte[]> key, ObjLongConsumer<byte[]> sink) {
      for (int i = 0; i < counters.length; i++) {
        if (counters[i] != 0) {
          sink.accept(key.apply(i), counters[i]);
        }
      }
    }
  }
}
