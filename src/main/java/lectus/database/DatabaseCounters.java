package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The sums of a database's counters, as of one read version.
 *
 * @param documents live documents
 * @param deletedDocuments documents whose winner is a tombstone
 * @param externalBytes bytes of all leaves' bodies as JSON, and of their attachments
 * @param activeBytes bytes of the keys and values that hold these bodies, and of their attachments
 *     as they are stored, of each leaf anew
 */
public record DatabaseCounters(
    long documents, long deletedDocuments, long externalBytes, long activeBytes) {

  /** A snapshot read, so counters never cause conflicts. */
  public static CompletableFuture<DatabaseCounters> read(ReadTransaction tx, DatabaseHandle db) {
    return read(tx, StatisticsSubspace.countersRange(db.prefix()));
  }

  /** Returns the same for one partition; zeros if the database is not partitioned. */
  public static CompletableFuture<DatabaseCounters> ofPartition(
      ReadTransaction tx, DatabaseHandle db, Partition partition) {
    return read(tx, StatisticsSubspace.partitionRange(db.prefix(), partition));
  }

  private static CompletableFuture<DatabaseCounters> read(ReadTransaction tx, Range range) {
    return rows(tx, range).thenApply(rows -> sum(range, rows));
  }

  /**
   * Returns the number of entries in the changes index: one per document, deleted ones included.
   */
  public static CompletableFuture<Long> entries(ReadTransaction tx, DatabaseHandle db) {
    Range range = StatisticsSubspace.documentsRange(db.prefix());
    return read(tx, range).thenApply(it -> it.documents() + it.deletedDocuments());
  }

  /** Returns the number of entries in one shard of the changes index. */
  public static CompletableFuture<Long> entries(
      ReadTransaction tx, DatabaseHandle db, ShardId shard) {
    Range range = StatisticsSubspace.entriesRange(db.prefix(), shard);
    return sum(tx, range, key -> StatisticsSubspace.checkSlot(range, key));
  }

  /** Returns the number of entries in all shards, without those in the deprecated subspace. */
  public static CompletableFuture<Long> entriesInShards(ReadTransaction tx, DatabaseHandle db) {
    Range range = StatisticsSubspace.entriesRange(db.prefix());
    return sum(tx, range, key -> StatisticsSubspace.shardOf(range, key));
  }

  private static CompletableFuture<List<KeyValue>> rows(ReadTransaction tx, Range range) {
    return tx.snapshot().getRange(range).asList();
  }

  /** Adds to the counter under a key. Concurrent additions do not conflict. */
  public static void add(Transaction tx, byte[] key, long difference) {
    tx.mutate(MutationType.ADD, key, StatisticsSubspace.littleEndian(difference));
  }

  /** Decodes the value of a counter. */
  public static long count(byte[] value) {
    return StatisticsSubspace.number(value);
  }

  /** Returns the name of the counter under a key; empty if there is no such counter. */
  public static Optional<String> nameOf(DatabaseHandle db, byte[] key) {
    return StatisticsSubspace.nameOf(db.prefix(), key);
  }

  private static DatabaseCounters sum(Range range, List<KeyValue> rows) {
    long[] sums = new long[StatisticsSubspace.Counter.values().length];
    for (KeyValue row : rows) {
      int counter = StatisticsSubspace.counterNumber(range, row.getKey());
      sums[counter] += StatisticsSubspace.number(row.getValue());
    }
    return new DatabaseCounters(sums[0], sums[1], sums[2], sums[3]);
  }

  private static CompletableFuture<Long> sum(
      ReadTransaction tx, Range range, Consumer<byte[]> check) {
    return rows(tx, range)
        .thenApply(
            rows -> {
              rows.forEach(row -> check.accept(row.getKey()));
              return rows.stream()
                  .mapToLong(row -> StatisticsSubspace.number(row.getValue()))
                  .sum();
            });
  }
}
