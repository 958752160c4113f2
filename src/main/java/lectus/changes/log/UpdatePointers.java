package lectus.changes.log;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;

/**
 * The state of the updates log's compaction.
 *
 * <pre>
 * key                                     value
 * (root, UPDATE_POINTERS, 0)              (format 1, Versionstamp): how far the log is compacted
 * (root, UPDATE_POINTERS, 1, instance)    (format 1, Versionstamp of its last "updated" row)
 * (root, UPDATE_POINTERS, 2, name)        (format 1, Versionstamp of its last "deleted" row,
 *                                         instance that ended, Versionstamp of the first creation)
 * </pre>
 */
public final class UpdatePointers {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A pointer into the updates log");
  private static final int PROGRESS = 0;
  private static final int UPDATED = 1;
  private static final int DELETED = 2;

  private final byte[] root;

  public UpdatePointers(byte[] rootPrefix) {
    this.root = rootPrefix;
  }

  /** The row of the updates log that a pointer refers to. */
  public record Target(InstanceId instance, Versionstamp at) {}

  /**
   * Returns the target of a pointer. Empty for the one row that has none.
   *
   * @throws MalformedTupleException if the row does not belong to this subspace
   */
  public Optional<Target> target(KeyValue row) {
    TupleReader key =
        new TupleReader(row.getKey(), RootSubspace.UPDATE_POINTERS.key(root).length());
    TupleReader value = FORMAT.reader(row.getValue());
    int kind = key.smallInteger();
    if (kind > DELETED) {
      throw StoredFormat.newer("A pointer into the updates log", kind, DELETED);
    }
    if (kind == DELETED) {
      DatabaseUpdate deleted = deleted(new DatabaseName(key.only(TupleReader::string)), value);
      return Optional.of(new Target(deleted.instance(), deleted.at()));
    }
    Optional<InstanceId> instance =
        kind == PROGRESS ? Optional.empty() : Optional.of(new InstanceId(key.string()));
    key.end();
    Versionstamp at = new Versionstamp(value.only(TupleReader::versionstamp));
    return instance.map(it -> new Target(it, at));
  }

  /**
   * Returns the first point not compacted yet. In a transaction that writes, this read conflicts,
   * so of several concurrent compactions only one continues.
   */
  Versionstamp progress(ReadTransaction tx) {
    byte[] value = Awaiting.await(tx.get(progressKey()));
    return value == null
        ? Versionstamp.ZERO
        : new Versionstamp(FORMAT.reader(value).only(TupleReader::versionstamp));
  }

  void setProgress(Transaction tx, Versionstamp next) {
    tx.set(progressKey(), value().versionstamp(next.bytes()).toBytes());
  }

  /** Returns the point of an instance's only {@code updated} row in the compacted part. */
  CompletableFuture<Optional<Versionstamp>> updated(ReadTransaction tx, InstanceId instance) {
    return tx.get(key(instance))
        .thenApply(
            value ->
                Optional.ofNullable(value)
                    .map(
                        it -> new Versionstamp(FORMAT.reader(it).only(TupleReader::versionstamp))));
  }

  void setUpdated(Transaction tx, InstanceId instance, Versionstamp at) {
    tx.set(key(instance), value().versionstamp(at.bytes()).toBytes());
  }

  void clearUpdated(Transaction tx, InstanceId instance) {
    tx.clear(key(instance));
  }

  /** Returns a name's only {@code deleted} row in the compacted part. */
  CompletableFuture<Optional<DatabaseUpdate>> deleted(ReadTransaction tx, DatabaseName name) {
    return tx.get(key(name))
        .thenApply(value -> Optional.ofNullable(value).map(it -> deleted(name, FORMAT.reader(it))));
  }

  private static DatabaseUpdate deleted(DatabaseName name, TupleReader value) {
    return value.only(
        it ->
            new DatabaseUpdate(
                new Versionstamp(it.versionstamp()),
                DatabaseUpdate.Kind.DELETED,
                new InstanceId(it.string()),
                name,
                new Versionstamp(it.versionstamp())));
  }

  void setDeleted(Transaction tx, DatabaseUpdate row) {
    tx.set(
        key(row.name()),
        value()
            .versionstamp(row.at().bytes())
            .string(row.instance().hex())
            .versionstamp(row.joined().bytes())
            .toBytes());
  }

  private byte[] progressKey() {
    return RootSubspace.UPDATE_POINTERS.key(root).integer(PROGRESS).toBytes();
  }

  private byte[] key(InstanceId instance) {
    return RootSubspace.UPDATE_POINTERS.key(root).integer(UPDATED).string(instance.hex()).toBytes();
  }

  private byte[] key(DatabaseName name) {
    return RootSubspace.UPDATE_POINTERS.key(root).integer(DELETED).string(name.text()).toBytes();
  }

  private static TupleWriter value() {
    return new TupleWriter(64).integer(FORMAT.number());
  }
}
