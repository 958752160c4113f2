package lectus.database;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.ReadableRows;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;

/**
 * The databases, in the order of their names.
 *
 * <pre>
 * key                       value
 * (root, CATALOGUE, name)   (format 2, instance, prefix, seconds since 1970 at creation,
 *                           Versionstamp of its creation)
 * </pre>
 */
public final class CatalogueSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(2, "An entry of the catalogue");

  private final byte[] subspace;

  public CatalogueSubspace(byte[] root) {
    subspace = RootSubspace.CATALOGUE.key(root).toBytes();
  }

  /**
   * One life of a database.
   *
   * @param joined when it began, in the store's commit order
   */
  public record Entry(
      InstanceId instance, byte[] prefix, long createdAtSeconds, Versionstamp joined) {}

  public Range range() {
    return Range.startsWith(subspace);
  }

  public byte[] key(String name) {
    return new TupleWriter(subspace).string(name).toBytes();
  }

  Range startingWith(String head) {
    TupleWriter key = new TupleWriter(subspace).string(head);
    // Without the string's terminator.
    return Range.startsWith(key.truncate(key.length() - 1).toBytes());
  }

  public DatabaseName name(byte[] key) {
    return new DatabaseName(new TupleReader(key, subspace.length).only(TupleReader::string));
  }

  /** Adds a life that begins with this transaction. */
  void enter(
      Transaction tx, String name, InstanceId instance, byte[] prefix, long createdAtSeconds) {
    TupleWriter value =
        new TupleWriter(64)
            .integer(FORMAT.number())
            .string(instance.hex())
            .bytes(prefix)
            .integer(createdAtSeconds);
    tx.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, key(name), Versionstamp.template(value, 0));
  }

  /** Returns empty if this version cannot read the entry. */
  Optional<Entry> readable(DatabaseName name, byte[] value) {
    return ReadableRows.unlessDamaged(
        () -> "The catalogue's row of " + name.text(), () -> entry(value));
  }

  /**
   * @throws MalformedTupleException if this version does not know the entry
   */
  public Entry entry(byte[] value) {
    return FORMAT
        .reader(value)
        .only(
            reader ->
                new Entry(
                    new InstanceId(reader.string()),
                    reader.bytes(),
                    reader.integer(),
                    new Versionstamp(reader.versionstamp())));
  }
}
