package lectus.database;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;
import lectus.store.Versionstamps;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * Which databases there are, in the order of their names.
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
   * @param joined when it began, in the order of all commits of the store
   */
  public record Entry(
      InstanceId instance, byte[] prefix, long createdAtSeconds, Versionstamp joined) {}

  /** Where all databases are. */
  public Range range() {
    return Range.startsWith(subspace);
  }

  public byte[] key(String name) {
    return TupleWriter.startingWith(subspace).string(name).toBytes();
  }

  /** The names that begin with {@code head}. */
  Range startingWith(String head) {
    TupleWriter key = TupleWriter.startingWith(subspace).string(head);
    // Without what ends the string.
    return Range.startsWith(key.truncate(key.length() - 1).toBytes());
  }

  public DatabaseName name(byte[] key) {
    return new DatabaseName(new TupleReader(key, subspace.length).string());
  }

  /** Enters a life that begins with this transaction. */
  void enter(
      Transaction tx, String name, InstanceId instance, byte[] prefix, long createdAtSeconds) {
    TupleWriter value =
        new TupleWriter(64)
            .integer(FORMAT.number())
            .string(instance.hex())
            .bytes(prefix)
            .integer(createdAtSeconds);
    tx.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, key(name), Versionstamps.template(value, 0));
  }

  /**
   * @throws MalformedTupleException if it is no entry that this version knows
   */
  public Entry entry(byte[] value) {
    TupleReader reader = FORMAT.reader(value);
    return new Entry(
        new InstanceId(reader.string()),
        reader.bytes(),
        reader.integer(),
        new Versionstamp(reader.versionstamp()));
  }
}
