package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;

/**
 * Databases that are being restored and that nobody finds yet. What a restore leaves that ended
 * without an answer is removed when it was not renewed for long.
 *
 * <pre>
 * key    (root, RESTORES, instance)
 * value  (format 1, name, prefix, read version at the last renewal)
 * </pre>
 *
 * Whoever writes into such a database reads its row with a conflict. So nothing is written into one
 * that was removed.
 */
public final class RestoresSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A restore");

  private final byte[] root;

  public RestoresSubspace(byte[] root) {
    this.root = root.clone();
  }

  /** A restore that goes on, or did. */
  public record Restore(DatabaseInstance life, long renewedAt) {}

  public Range range() {
    return RootSubspace.RESTORES.range(root);
  }

  /** Notes that a restore goes on. */
  public void put(Transaction tx, DatabaseInstance life, long version) {
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number()).string(life.name().text());
    tx.set(key(life.instance()), value.bytes(life.prefix()).integer(version).toBytes());
  }

  public void clear(Transaction tx, InstanceId instance) {
    tx.clear(key(instance));
  }

  /** Reads when a restore was renewed; empty if it is over. */
  public CompletableFuture<OptionalLong> renewedAt(ReadTransaction tx, InstanceId instance) {
    byte[] key = key(instance);
    return tx.get(key)
        .thenApply(
            value ->
                value == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(decode(new KeyValue(key, value)).renewedAt()));
  }

  /** Reads all restores, without conflicts. */
  public CompletableFuture<List<Restore>> all(ReadTransaction tx) {
    return tx.snapshot()
        .getRange(range())
        .asList()
        .thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  public Restore decode(KeyValue row) {
    InstanceId instance =
        new InstanceId(
            new TupleReader(row.getKey(), RootSubspace.RESTORES.key(root).length())
                .only(TupleReader::string));
    TupleReader value = FORMAT.reader(row.getValue());
    DatabaseName name = new DatabaseName(value.string());
    byte[] prefix = value.bytes();
    return new Restore(
        new DatabaseInstance(name, instance, prefix, Versionstamp.ZERO),
        value.only(TupleReader::integer));
  }

  private byte[] key(InstanceId instance) {
    return RootSubspace.RESTORES.key(root).string(instance.hex()).toBytes();
  }
}
