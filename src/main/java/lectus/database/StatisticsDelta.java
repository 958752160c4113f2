package lectus.database;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.ObjLongConsumer;

/**
 * The changes that one transaction makes to a database's counters, summed up in memory and applied
 * once.
 */
public final class StatisticsDelta {
  private final boolean partitioned;
  private final Map<Slot, Long> changes = new HashMap<>();
  private final Map<PartitionSlot, Long> partitions = new HashMap<>();

  private record Slot(StatisticsSubspace.Counter counter, int number) {}

  private final Map<EntrySlot, Long> entries = new HashMap<>();

  private record EntrySlot(ShardId shard, int number) {}

  private record PartitionSlot(
      Partition partition, StatisticsSubspace.Counter counter, int number) {}

  /**
   * @param partitioned whether the database is partitioned, so that each partition is counted, too
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
    Optional<Partition> partition = partitioned ? Partition.ofDocument(docId) : Optional.empty();
    merge(docId, partition, StatisticsSubspace.Counter.DOCUMENTS, documents);
    merge(docId, partition, StatisticsSubspace.Counter.DELETED_DOCUMENTS, deletedDocuments);
    merge(docId, partition, StatisticsSubspace.Counter.EXTERNAL_BYTES, externalBytes);
    merge(docId, partition, StatisticsSubspace.Counter.ACTIVE_BYTES, activeBytes);
  }

  /**
   * Changes the number of entries of a changes shard. Entries from before shards were never
   * counted.
   */
  public void addEntries(Generation generation, ShardId shard, String docId, int count) {
    if (!shard.isDeprecated()) {
      int slot = StatisticsSubspace.entriesSlotOf(docId, generation.shards().size());
      entries.merge(new EntrySlot(shard, slot), (long) count, Long::sum);
    }
  }

  /** Makes one atomic addition for each counter that changed. */
  public void applyTo(Transaction tx, DatabaseHandle db) {
    forEach(db, (key, change) -> apply(tx, key, change));
  }

  /** Returns the counters that an empty database would have after this change, by key. */
  public Map<ByteBuffer, Long> values(DatabaseHandle db) {
    Map<ByteBuffer, Long> values = new HashMap<>();
    forEach(db, (key, change) -> values.put(ByteBuffer.wrap(key), change));
    return values;
  }

  private void forEach(DatabaseHandle db, ObjLongConsumer<byte[]> sink) {
    changes.forEach(
        (slot, change) ->
            sink.accept(
                StatisticsSubspace.key(db.prefix(), slot.counter(), slot.number()), change));
    partitions.forEach(
        (slot, change) ->
            sink.accept(
                StatisticsSubspace.partitionKey(
                    db.prefix(), slot.partition(), slot.counter(), slot.number()),
                change));
    entries.forEach(
        (slot, change) ->
            sink.accept(
                StatisticsSubspace.entriesKey(db.prefix(), slot.shard(), slot.number()), change));
  }

  private static void apply(Transaction tx, byte[] key, long change) {
    if (change != 0) {
      tx.mutate(MutationType.ADD, key, StatisticsSubspace.littleEndian(change));
    }
  }

  private void merge(
      String docId,
      Optional<Partition> partition,
      StatisticsSubspace.Counter counter,
      long change) {
    if (change == 0) {
      return;
    }
    changes.merge(new Slot(counter, StatisticsSubspace.slotOf(docId)), change, Long::sum);
    if (partition.isPresent()) {
      int slot = StatisticsSubspace.partitionSlotOf(docId);
      partitions.merge(new PartitionSlot(partition.get(), counter, slot), change, Long::sum);
    }
  }
}
