package lectus.document.index;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.store.RootSubspace;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The indexes of all databases that an earlier version was building.
 *
 * <pre>
 * key    (root, INDEX_TASKS, instance, number)
 * value  (format 1, name of the database)
 * </pre>
 *
 * Now they are {@link lectus.document.job.JobsSubspace jobs}. A row may outlast its database.
 */
public final class IndexTaskSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A task of building an index");
  private static final int AFTER = 0xff;

  private final byte[] root;

  public IndexTaskSubspace(byte[] root) {
    this.root = root;
  }

  /** An index to build. */
  public record Task(InstanceId instance, long index, DatabaseName database) {}

  /** Returns the first rows. */
  CompletableFuture<List<Task>> first(ReadTransaction tx, int limit) {
    byte[] begin = RootSubspace.INDEX_TASKS.key(root).toBytes();
    return tx.snapshot()
        .getRange(begin, TupleWriter.startingWith(begin).octet(AFTER).toBytes(), limit)
        .asList()
        .thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  public Task decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), RootSubspace.INDEX_TASKS.key(root).length());
    InstanceId instance = new InstanceId(key.string());
    long index = key.only(TupleReader::integer);
    String database = FORMAT.reader(row.getValue()).only(TupleReader::string);
    return new Task(instance, index, new DatabaseName(database));
  }

  CompletableFuture<Boolean> has(ReadTransaction tx, InstanceId instance, long index) {
    return tx.get(key(instance, index)).thenApply(value -> value != null);
  }

  void clear(Transaction tx, InstanceId instance, long index) {
    tx.clear(key(instance, index));
  }

  private byte[] key(InstanceId instance, long index) {
    return RootSubspace.INDEX_TASKS.key(root).string(instance.hex()).integer(index).toBytes();
  }
}
